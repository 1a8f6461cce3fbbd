import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { nodeCompression } from './gzip.ts'

const line = Buffer.from(`${'0123456789'.repeat(100)}\n`)

describe('nodeCompression', () => {
  it('compresses a stream that other implementations can read', async () => {
    async function* body() {
      for (let i = 0; i < 1_000; i++) yield line
    }
    const chunks: Uint8Array[] = []
    for await (const chunk of nodeCompression.gzip(body())) chunks.push(chunk)
    const compressed = Buffer.concat(chunks)
    assert.ok(compressed.length < 50_000)
    assert.equal(gunzipSync(compressed).length, 1_000 * line.length)
  })

  it('passes on the failure of its source', async () => {
    async function* body() {
      yield line
      throw new Error('broken')
    }
    await assert.rejects(async () => {
      for await (const _ of nodeCompression.gzip(body()));
    }, /broken/)
  })

  it('releases its source when its own reader leaves', async () => {
    const left = Promise.withResolvers<void>()
    async function* body() {
      try {
        for (;;) yield Buffer.from(Array.from({ length: 10_000 }, () => Math.random() * 256))
      } finally {
        left.resolve()
      }
    }
    for await (const _ of nodeCompression.gzip(body())) break
    await left.promise
  })

  it('decompresses what it compressed', async () => {
    async function* body() {
      yield line
    }
    const chunks: Uint8Array[] = []
    for await (const chunk of nodeCompression.gunzip(nodeCompression.pack(body()))) chunks.push(chunk)
    assert.deepEqual(Buffer.concat(chunks), line)
  })
})
