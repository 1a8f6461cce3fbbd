import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import type { LogOptions } from '../container-runtime.ts'
import { LogBuffer } from './log-buffer.ts'

const noon = Date.parse('2026-01-02T12:00:00Z')
const never = new AbortController().signal

/** A line each second from noon on. */
function bufferOf(count: number): LogBuffer {
  let now = noon
  const buffer = new LogBuffer({ ...new VirtualWorld({ seed: 1 }).clock, now: () => now })
  for (let index = 0; index < count; index++, now += 1000) buffer.append(`line ${index}`)
  return buffer
}

async function read(buffer: LogBuffer, options: Partial<LogOptions> = {}): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of buffer.read({ follow: false, timestamps: false, signal: never, ...options }))
    text += decoder.decode(chunk)
  return text
}

describe('a log in memory', () => {
  it('returns all lines, the last ones, those since a time, a number of bytes, with timestamps', async () => {
    const buffer = bufferOf(3)
    assert.equal(await read(buffer), 'line 0\nline 1\nline 2\n')
    assert.equal(await read(buffer, { tailLines: 1 }), 'line 2\n')
    assert.equal(await read(buffer, { tailLines: 0 }), '')
    assert.equal(await read(buffer, { since: noon + 1000 }), 'line 1\nline 2\n')
    assert.equal(await read(buffer, { limitBytes: 9 }), 'line 0\nli')
    assert.equal(
      await read(buffer, { timestamps: true, tailLines: 1 }),
      '2026-01-02T12:00:02.000000000Z line 2\n',
    )
  })

  it('keeps the newest two thousand lines, and truncates long ones', async () => {
    const text = await read(bufferOf(10_001))
    assert.equal(text.split('\n').length - 1, 2_000)
    assert.ok(text.startsWith('line 8001\n') && text.endsWith('line 10000\n'))
    const buffer = bufferOf(0)
    buffer.append('x'.repeat(100_000))
    assert.equal((await read(buffer)).length, 4_096 + 4)
  })

  it('continues for followers until they disconnect', async () => {
    const buffer = bufferOf(2)
    const leaving = new AbortController()
    const following = read(buffer, { follow: true, tailLines: 1, signal: leaving.signal })
    await Promise.resolve()
    buffer.append('later')
    buffer.append('and later')
    setImmediate(() => leaving.abort())
    assert.equal(await following, 'line 1\nlater\nand later\n')
    assert.equal(
      await read(buffer, { follow: true, signal: AbortSignal.abort() }),
      'line 0\nline 1\nlater\nand later\n',
    )
  })
})
