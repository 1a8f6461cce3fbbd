import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { discardBody } from './body.ts'

describe('a body that is discarded', () => {
  it('closes a stream of which nothing was read', async () => {
    const stream = new Readable({ read: () => {} })
    await discardBody(stream)
    assert.equal(stream.destroyed, true)
  })

  it('ends what makes it, after a part of it was read', async () => {
    const seen: string[] = []
    async function* make() {
      try {
        yield new Uint8Array(1)
        seen.push('the rest was made')
      } finally {
        seen.push('ended')
      }
    }
    const body = make()
    await body.next()
    await discardBody(body)
    await discardBody(new Uint8Array(1))
    await discardBody(undefined)
    assert.deepEqual(seen, ['ended'])
  })
})
