import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { ExpiryQueue } from './expiry-queue.ts'

describe('ExpiryQueue', () => {
  it('returns what is due, in order, and nothing else', () => {
    const random = createSeededRandom(1)
    const queue = new ExpiryQueue()
    const dues = Array.from({ length: 500 }, () => random.below(1000))
    for (const [i, due] of dues.entries()) queue.push({ key: `k${i}`, modRevision: i, due })
    const taken: number[] = []
    for (let expiry = queue.popDue(400); expiry; expiry = queue.popDue(400)) taken.push(expiry.due)
    assert.deepEqual(
      taken,
      dues.filter(due => due <= 400).sort((a, b) => a - b),
    )
    assert.equal(queue.next, Math.min(...dues.filter(due => due > 400)))
    queue.prune(({ due }) => due > 900)
    assert.equal(queue.size, dues.filter(due => due > 900).length)
    assert.equal(queue.next, Math.min(...dues.filter(due => due > 900)))
  })
})
