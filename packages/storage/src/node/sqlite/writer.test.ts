import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ByteReader, ByteWriter } from './bytes.ts'
import { checkStore } from './check.ts'
import { type FromWriter, readOutcome, writeTransaction } from './messages.ts'
import { Writer } from './writer.ts'

const request = {
  conditions: [],
  operations: [{ type: 'put' as const, key: '/a', value: new Uint8Array(10) }],
  dues: [0],
}

function write(id: number) {
  const out = new ByteWriter(256)
  writeTransaction(out, request)
  return { type: 'write' as const, id, count: 1, buffer: out.finish() }
}

/** The revision of a committed write, or the code of the error. */
function outcomeOf(replies: readonly FromWriter[]): number | string {
  const [reply] = replies
  if (reply?.type === 'failed') return reply.error.code
  assert.ok(reply?.type === 'done' && reply.buffer)
  const outcome = readOutcome(new ByteReader(reply.buffer), request)
  assert.ok('committed' in outcome)
  return outcome.revision
}

describe('a writer', () => {
  const { run } = StatementSync.prototype
  let directory = ''
  let writer: Writer

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'coxswain-writer-'))
    writer = new Writer({
      directory,
      historyRevisions: 1000,
      historyDuration: 60_000,
      historyBytes: 1e6,
      checkpointBytes: 1e6,
    })
  })
  afterEach(() => {
    StatementSync.prototype.run = run
    writer.close()
    rmSync(directory, { recursive: true })
  })

  /** Commits fail with this SQLite error code from here on. */
  const failWith = (errcode: number) => {
    StatementSync.prototype.run = function (this: StatementSync, ...args: Parameters<typeof run>) {
      if (this.sourceSQL === 'COMMIT') throw Object.assign(new Error('database or disk is full'), { errcode })
      return run.apply(this, args)
    } as typeof run
  }

  it('recovers by itself after running out of space, at its last revision', () => {
    assert.equal(outcomeOf(writer.commit([write(1)])), 2)
    failWith(13)
    assert.equal(outcomeOf(writer.commit([write(2)])), 'NoSpace')
    assert.equal(outcomeOf([writer.probe(3)]), 'NoSpace')
    StatementSync.prototype.run = run
    assert.equal(writer.probe(4).type, 'done')
    assert.equal(outcomeOf(writer.commit([write(5)])), 3)
    assert.deepEqual(checkStore(directory).problems, [])
  })

  it('reports an unknown outcome when the index of the log could not grow, and continues', () => {
    failWith(4874)
    assert.equal(outcomeOf(writer.commit([write(1)])), 'UnknownOutcome')
    StatementSync.prototype.run = run
    assert.equal(outcomeOf(writer.commit([write(2)])), 2)
  })

  it('rejects writes after any other failure', () => {
    failWith(1034)
    assert.equal(outcomeOf(writer.commit([write(1)])), 'UnknownOutcome')
    StatementSync.prototype.run = run
    assert.equal(outcomeOf(writer.commit([write(2)])), 'Failed')
    assert.equal(outcomeOf([writer.probe(3)]), 'Failed')
  })
})
