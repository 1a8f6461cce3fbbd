import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PushStream } from './push-stream.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (chunk: Uint8Array) => new TextDecoder().decode(chunk)

function createStream(limit = 100) {
  const left: string[] = []
  return { stream: new PushStream({ limit, onLeave: () => left.push('left') }), left }
}

/** Takes so many chunks before it asks to wait. */
function createReceiver(room: number) {
  const seen: string[] = []
  const receiver = {
    room,
    chunk(chunk: Uint8Array) {
      seen.push(text(chunk))
      return --receiver.room > 0
    },
    end: () => void seen.push('end'),
  }
  return { receiver, seen }
}

describe('PushStream', () => {
  it('delivers buffered chunks when a receiver attaches, and then every chunk synchronously', () => {
    const { stream } = createStream()
    stream.push(bytes('a'))
    const { receiver, seen } = createReceiver(9)
    stream.attach(receiver)
    assert.deepEqual(seen, ['a'])
    stream.push(bytes('b'))
    assert.deepEqual(seen, ['a', 'b'])
    stream.end()
    assert.equal(stream.push(bytes('c')), false)
    assert.deepEqual(seen, ['a', 'b', 'end'])
  })

  it('buffers chunks while the receiver waits, in order, and ends after them', () => {
    const { stream } = createStream()
    const { receiver, seen } = createReceiver(1)
    stream.attach(receiver)
    for (const letter of 'abc') stream.push(bytes(letter))
    stream.end()
    assert.deepEqual([seen, stream.pending], [['a'], 2])
    receiver.room = 1
    stream.resume()
    assert.deepEqual(seen, ['a', 'b'])
    receiver.room = 9
    stream.resume()
    assert.deepEqual([seen, stream.pending], [['a', 'b', 'c', 'end'], 0])
  })

  it('rejects chunks over the limit', () => {
    const { stream } = createStream(3)
    assert.deepEqual(
      ['ab', 'cd', 'e', 'f'].map(chunk => stream.push(bytes(chunk))),
      [true, false, true, false],
    )
    assert.equal(stream.pending, 3)
  })

  it('creates its prelude as fast as the reader takes it, and sends it before pushed chunks', () => {
    let made = 0
    function* prelude() {
      for (; made < 5; ) yield bytes(`${made++}`)
    }
    const stream = new PushStream({ limit: 1, onLeave: () => {}, prelude: prelude() })
    stream.push(bytes('x'))
    const { receiver, seen } = createReceiver(2)
    stream.attach(receiver)
    assert.deepEqual([seen, made], [['0', '1'], 2])
    receiver.room = 9
    stream.resume()
    assert.deepEqual(seen, ['0', '1', '2', '3', '4', 'x'])
  })

  it('notifies the sender once when the reader has left', async () => {
    for (const leave of [
      (stream: PushStream) => stream.leave(),
      (stream: PushStream) => stream[Symbol.asyncIterator]().return?.(),
    ]) {
      const { stream, left } = createStream()
      stream.push(bytes('a'))
      await leave(stream)
      await leave(stream)
      assert.deepEqual([left, stream.pending, stream.push(bytes('b'))], [['left'], 0, false])
    }
  })

  it('notifies every listener when it is over', () => {
    const { stream } = createStream()
    const called: number[] = []
    stream.onFinished(() => called.push(1))
    stream.onFinished(() => called.push(2))
    assert.equal(called.length, 0)
    stream.end()
    stream.leave()
    stream.onFinished(() => called.push(3))
    assert.deepEqual(called, [1, 2, 3])
  })

  it('does not report a reader that leaves after the end', () => {
    const { stream, left } = createStream()
    stream.end()
    stream.leave()
    assert.deepEqual(left, [])
  })

  it('can be iterated, also when chunks arrive later', async () => {
    const { stream } = createStream(1_000)
    for (let i = 0; i < 200; i++) stream.push(bytes(`${i % 10}`))
    const seen: string[] = []
    for await (const chunk of stream) {
      seen.push(text(chunk))
      if (seen.length === 200) {
        stream.push(bytes('x'))
        stream.end()
      }
    }
    assert.equal(seen.length, 201)
    assert.equal(seen.join('').slice(-3), '89x')
    const { stream: late } = createStream()
    const next = late[Symbol.asyncIterator]().next()
    late.push(bytes('y'))
    assert.equal(text((await next).value!), 'y')
  })
})
