import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { writeLayer } from './layer.ts'

/** Text that compresses as code does: words in an order that a generator chooses. */
function sampleText(length: number): string {
  const words = ['const ', 'export ', 'return ', '(object) ', '=> ', '{\n', '}\n', 'message', '.spec', ' = ']
  let state = 1
  let text = ''
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647
    text += words[state % words.length]
  }
  return text
}

describe('a layer', () => {
  it('has a digest that depends on nothing but its files: not on Node, nor on the processor', async () => {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'coxswain-layer-'))
    const source = join(folder.path, 'source')
    const text = sampleText(300_000)
    writeFileSync(source, text)
    const file = join(folder.path, 'layer')
    const layer = await writeLayer({
      title: 'code',
      entries: [
        { path: 'app', type: 'folder' },
        { path: 'app/operator.ts', type: 'file', size: text.length, source },
      ],
      file,
      time: 0,
    })
    const written = readFileSync(file)
    const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    assert.equal(sha256(written), layer.blob.descriptor.digest)
    assert.equal(written.length, layer.blob.descriptor.size)
    assert.equal(sha256(gunzipSync(written)), layer.diffId)
    assert.equal(
      layer.blob.descriptor.digest,
      'sha256:e9d1fb824f3bd59e26c729f7d2379d85c6bcdbb84223e0e327e9919bc3110d51',
    )
  })
})
