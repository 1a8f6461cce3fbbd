import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeText, encodeText } from '@coxswain/kit'
import { encodeFrame, FrameReader, opcodes } from './frames.ts'

describe('WebSocket frames', () => {
  it('round-trip, whatever their length, mask, and cuts', () => {
    for (const length of [0, 1, 125, 126, 65_535, 65_536]) {
      for (const mask of [undefined, Uint8Array.of(1, 2, 3, 4)]) {
        const payload = Uint8Array.from({ length }, (_, index) => index)
        const frame = encodeFrame(opcodes.binary, payload, mask)
        const messages: Uint8Array[] = []
        const listener = {
          onMessage: (message: Uint8Array) => messages.push(message),
          onControl: () => {},
          onError: () => {},
        }
        const parser = new FrameReader(listener, { from: 'server' })
        for (let at = 0; at < frame.length; at += 7_001) parser.push(frame.subarray(at, at + 7_001))
        assert.deepEqual(messages, [payload])
      }
    }
  })

  it('join fragments, with control frames in between', () => {
    const seen: string[] = []
    const parser = new FrameReader(
      {
        onMessage: message => seen.push(decodeText(message)),
        onControl: opcode => seen.push(String(opcode)),
        onError: reason => seen.push(reason),
      },
      { from: 'server', maxMessageBytes: 10 },
    )
    const part = (opcode: number, final: boolean, content: string): Uint8Array => {
      const frame = encodeFrame(opcode, encodeText(content))
      if (!final) frame[0]! &= 0x7f
      return frame
    }
    parser.push(part(opcodes.text, false, 'hel'))
    parser.push(part(opcodes.ping, true, 'x'))
    parser.push(part(opcodes.continuation, true, 'lo'))
    parser.push(part(opcodes.continuation, true, 'x'))
    parser.push(part(opcodes.text, true, 'never read'))
    assert.deepEqual(seen.splice(0), ['9', 'hello', 'a message within a message'])
    const long = new FrameReader(
      { onMessage: () => {}, onControl: () => {}, onError: reason => seen.push(reason) },
      { from: 'server', maxMessageBytes: 10 },
    )
    long.push(part(opcodes.text, false, 'x'.repeat(6)))
    long.push(part(opcodes.continuation, true, 'x'.repeat(6)))
    assert.deepEqual(seen, ['a message is too long'])
  })
})
