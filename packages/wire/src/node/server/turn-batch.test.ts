import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type TurnBatch, TurnBatches } from './turn-batch.ts'

function createBatch(): TurnBatch & { readonly sent: string[] } {
  const sent: string[] = []
  return { chunks: [], sent, flush: bytes => void sent.push(Buffer.from(bytes).toString()) }
}

describe('chunks of one turn', () => {
  it('go out as one, however many promises lie between them', async () => {
    const batches = new TurnBatches()
    const batch = createBatch()
    for (const text of ['a', 'b', 'c']) {
      batches.add(batch, Buffer.from(text))
      for (let i = 0; i < 5; i++) await undefined
    }
    await new Promise(setImmediate)
    assert.deepEqual(batch.sent, ['abc'])
  })

  it('go out at once on a connection where an answer follows, and only there', async () => {
    const answering = new TurnBatches()
    const other = new TurnBatches()
    const [first, second] = [createBatch(), createBatch()]
    answering.add(first, Buffer.from('a'))
    other.add(second, Buffer.from('a'))
    answering.flush()
    assert.deepEqual([first.sent, second.sent], [['a'], []])
    answering.add(first, Buffer.from('b'))
    other.add(second, Buffer.from('b'))
    await new Promise(setImmediate)
    assert.deepEqual([first.sent, second.sent], [['a', 'b'], ['ab']])
  })
})
