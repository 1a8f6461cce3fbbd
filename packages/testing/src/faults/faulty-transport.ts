import { aborted, type Env, encodeText } from '@coxswain/kit'
import {
  isStream,
  joinChunks,
  type Transport,
  TransportError,
  type WireBody,
  type WireResponse,
} from '@coxswain/wire'

/** How likely each fault is, from 0 to 1, whenever it could happen. */
export interface TransportFaults {
  /** No connection comes about. */
  readonly refuse: number
  /** The server does its part, and the answer is lost. */
  readonly loseAnswer: number
  /** Nothing is ever answered: the connection is half open. */
  readonly hang: number
  /** 429, 500 or 503 from something in between, as HTML or as a Status. */
  readonly gateway: number
  /** A read is answered 410, and a watch gets the error before a chunk. */
  readonly expire: number
  /** A stream breaks before a chunk. */
  readonly drop: number
  /** An answer, or a stream in the middle of a chunk, ends too early as if it were complete. */
  readonly truncate: number
  /** A stream goes silent before a chunk: the connection is half open. */
  readonly silence: number
  /** An answer, or something before a chunk, is rubbish. */
  readonly garbage: number
  /** A chunk comes in pieces, and late. */
  readonly slow: number
}

/** The faults of `createFaultyTransport` with every probability 0, to start from. */
export const noTransportFaults: TransportFaults = {
  refuse: 0,
  loseAnswer: 0,
  hang: 0,
  gateway: 0,
  expire: 0,
  drop: 0,
  truncate: 0,
  silence: 0,
  garbage: 0,
  slow: 0,
}

const rubbish = [
  '<html>502 Bad Gateway</html>\n',
  '{"type":"ADDED","object":\n',
  '\u0000\u0001\n',
  '[]\n',
  '{}\n',
  'null\n',
]

/**
 * A connection on which everything goes wrong that can, as the seed of `env` has it. `faults` is asked each time, so that
 * a test can heal the connection.
 */
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
      if (happens('gateway')) return gatewayAnswers[random.below(gatewayAnswers.length)]!
      if (request.method === 'GET' && happens('expire')) return answerOf(expired)
      const response = await inner.send(request)
      const { body } = response
      if (isStream(body)) return { ...response, body: corrupt(body, request.signal) }
      if (happens('loseAnswer')) throw new TransportError('ConnectionLost', 'lost')
      if (body && happens('truncate')) return { ...response, body: half(body) }
      if (happens('garbage')) return { ...response, body: rubbishBytes() }
      return response
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }

  function rubbishBytes(): Uint8Array {
    return encodeText(rubbish[random.below(rubbish.length)]!)
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
      if (happens('expire')) {
        yield encodeText(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`)
        return
      }
      if (happens('truncate')) {
        yield chunk.subarray(0, chunk.length >> 1)
        return
      }
      if (happens('garbage')) yield rubbishBytes()
      if (happens('slow')) {
        const middle = random.below(chunk.length)
        yield chunk.subarray(0, middle)
        await clock.sleep(random.below(20_000), { signal })
        yield chunk.subarray(middle)
      } else yield chunk
    }
  }
}

function half(body: Exclude<WireBody, AsyncIterable<Uint8Array>>): Uint8Array {
  const whole = body instanceof Uint8Array ? body : joinChunks(body)
  return whole.subarray(0, whole.length >> 1)
}

interface Failure {
  readonly reason: string
  readonly code: number
}

function statusOf(failure: Failure) {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'from in between', ...failure }
}

function answerOf(status: Failure, headers: Readonly<Record<string, string>> = {}): WireResponse {
  const type = { 'content-type': 'application/json' }
  return {
    status: status.code,
    headers: { ...type, ...headers },
    body: encodeText(JSON.stringify(status)),
  }
}

const expired = statusOf({ reason: 'Expired', code: 410 })
const gatewayAnswers: readonly WireResponse[] = [
  { status: 503, headers: { 'content-type': 'text/html' }, body: encodeText('<html>unavailable</html>') },
  answerOf(statusOf({ reason: 'TooManyRequests', code: 429 }), { 'retry-after': '1' }),
  answerOf(statusOf({ reason: 'TooManyRequests', code: 429 })),
  answerOf(statusOf({ reason: 'InternalError', code: 500 })),
]
