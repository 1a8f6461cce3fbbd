import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Commit, RevisionLog } from './revision-log.ts'

function commit(revision: number, time = 0, size = 100): Commit {
  const value = new Uint8Array(size)
  const kv = { key: 'k', value, modRevision: revision, createRevision: revision, version: 1 }
  return { revision, time, changes: [{ type: 'put', kv }] }
}

describe('RevisionLog', () => {
  it('finds commits by revision while the oldest are dropped', () => {
    const log = new RevisionLog(5)
    assert.deepEqual([log.first, log.last, log.size], [5, 4, 0])
    for (let revision = 5; revision < 5000; revision++) {
      log.push(commit(revision))
      if (revision % 3 !== 0) assert.equal(log.shift()?.revision, log.first - 1)
    }
    for (let revision = log.first; revision <= log.last; revision++)
      assert.equal(log.at(revision)?.revision, revision)
    assert.equal(log.at(log.first - 1), undefined)
    assert.equal(log.at(log.last + 1), undefined)
  })

  it('counts no bytes when it is empty', () => {
    const log = new RevisionLog(1)
    log.push(commit(1))
    assert.ok(log.bytes > 100)
    log.shift()
    assert.equal(log.bytes, 0)
    assert.equal(log.shift(), undefined)
  })

  it('exceeds its window by number first, then by age or size', () => {
    const window = { revisions: 2, duration: 1000, bytes: 1000 }
    const log = new RevisionLog(1)
    for (let revision = 1; revision <= 2; revision++) log.push(commit(revision, 0, 10_000))
    assert.equal(log.exceeds(window, 1e9), false, 'the newest are kept however old and large they are')
    log.push(commit(3, 0, 10))
    assert.equal(log.exceeds(window, 0), true, 'too large')
    const small = new RevisionLog(1)
    for (let revision = 1; revision <= 3; revision++) small.push(commit(revision, 0, 10))
    assert.equal(small.exceeds(window, 1000), false, 'young and small')
    assert.equal(small.exceeds(window, 1001), true, 'too old')
  })
})
