import { aborted, type Env } from '@coxswain/kit'
import { isStream, type Transport, TransportError, type WireResponse } from '@coxswain/wire'

/** How likely each fault is, from 0 to 1, whenever it could happen. */
export interface TransportFaults {
  /** No connection comes about. */
  readonly refuse: number
  /** The server does its part, and the answer is lost. */
  readonly loseAnswer: number
  /** Nothing is ever answered. */
  readonly hang: number
  /** 429 or 503 from something in between, as HTML or as a Status. */
  readonly gateway: number
  /** A stream breaks before a chunk. */
  readonly drop: number
  /** A stream ends in the middle of a chunk, as if it were complete. */
  readonly truncate: number
  /** A stream goes silent before a chunk. */
  readonly silence: number
  /** A chunk is something else. */
  readonly garbage: number
  /** A chunk comes in pieces, and late. */
  readonly slow: number
}

export const noTransportFaults: TransportFaults = {
  refuse: 0,
  loseAnswer: 0,
  hang: 0,
  gateway: 0,
  drop: 0,
  truncate: 0,
  silence: 0,
  garbage: 0,
  slow: 0,
}

const encoder = new TextEncoder()
const rubbish = [
  '<html>502 Bad Gateway</html>\n',
  '{"type":"ADDED","object":\n',
  '\u0000\u0001\n',
  '[]\n',
  '{}\n',
  'null\n',
]

/** A connection on which everything goes wrong that can. `faults` is asked each time. */
export function createFaultyTransport(inner: Transport, env: Env, faults: () => TransportFaults): Transport {
  const { random, clock } = env
  const happens = (fault: keyof TransportFaults): boolean => random.next() < faults()[fault]
  return {
    async send(request) {
      if (happens('refuse')) throw new TransportError('ConnectFailed', 'refused', { sent: false })
      if (happens('hang')) {
        await aborted(request.signal)
        throw request.signal.reason
      }
      if (happens('gateway')) return gatewayAnswer(random.below(3))
      const response = await inner.send(request)
      const { body } = response
      if (body && isStream(body)) return { ...response, body: corrupt(body, request.signal) }
      if (happens('loseAnswer')) throw new TransportError('ConnectionLost', 'lost')
      return response
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }

  async function* corrupt(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      if (happens('drop')) throw new TransportError('ConnectionLost', 'reset')
      if (happens('silence')) {
        await aborted(signal)
        throw signal.reason
      }
      if (happens('truncate')) {
        yield chunk.subarray(0, chunk.length >> 1)
        return
      }
      if (happens('garbage')) yield encoder.encode(rubbish[random.below(rubbish.length)])
      if (happens('slow')) {
        const middle = random.below(chunk.length)
        yield chunk.subarray(0, middle)
        await clock.sleep(random.below(20_000), { signal })
        yield chunk.subarray(middle)
      } else yield chunk
    }
  }
}

function gatewayAnswer(kind: number): WireResponse {
  if (kind === 0) {
    return {
      status: 503,
      headers: { 'content-type': 'text/html' },
      body: encoder.encode('<html>unavailable</html>'),
    }
  }
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'TooManyRequests', code: 429 }
  const headers = { 'content-type': 'application/json', ...(kind === 1 && { 'retry-after': '1' }) }
  return { status: 429, headers, body: encoder.encode(JSON.stringify(status)) }
}
