import { AsyncQueue, type Env, type Lane } from '@coxswain/kit'
import { TransportError } from './errors.ts'
import type { Conversation, MessageChannel } from './message.ts'

/** The client's end of an upgraded connection without a socket. Disposing it breaks the connection off. */
export interface InProcessChannel extends MessageChannel, AsyncDisposable {
  /** Resolves when the server's side has ended. */
  close(): Promise<void>
}

/** How many messages may wait for their reader before the sender is held back. */
const waitingLimit = 64

/** One direction: messages are handed over one by one, in order, and never shared. */
class Pipe {
  readonly received = new AsyncQueue<Uint8Array>()
  readonly #lane: Lane
  #last: Promise<void> = Promise.resolve()

  constructor(lane: Lane) {
    this.#lane = lane
  }

  send(message: Uint8Array): Promise<void> {
    const copy = message.slice()
    return this.#next(async () => {
      await this.received.room(waitingLimit)
      await this.#lane.step()
      this.received.push(copy)
    })
  }

  /** After what was sent before. */
  end(): Promise<void> {
    return this.#next(async () => {
      await this.#lane.step()
      this.received.end()
    })
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work)
    return this.#last
  }
}

export interface OpenChannelOptions {
  readonly env: Pick<Env, 'scheduler'>
  readonly label: string
  /** The subprotocol that both sides speak. */
  readonly protocol: string
  /** The client gives the connection up. */
  readonly signal: AbortSignal
}

/** Begins a conversation between two sides of one process. `onEnd` is called when the server's side is over. */
export function openInProcessChannel(
  { talk }: Conversation,
  { env, label, protocol, signal }: OpenChannelOptions,
  onEnd: () => void,
): InProcessChannel {
  const up = new Pipe(env.scheduler.lane(`message ${label}`))
  const down = new Pipe(env.scheduler.lane(`reply ${label}`))
  const onAbort = (): void => {
    down.received.fail(signal.reason)
    up.received.end()
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const server: MessageChannel = {
    protocol,
    messages: up.received,
    send: message => down.send(message),
  }
  const over = talk(server)
    .then(
      () => down.end(),
      cause => down.received.fail(new TransportError('ConnectionLost', 'the server broke off', { cause })),
    )
    .finally(() => {
      signal.removeEventListener('abort', onAbort)
      up.received.end()
      onEnd()
    })
  return {
    protocol,
    messages: down.received,
    async send(message) {
      if (up.received.ended)
        throw new TransportError('ConnectionLost', 'the connection is closed', { sent: false })
      await up.send(message)
    },
    async close() {
      await up.end()
      await over
    },
    async [Symbol.asyncDispose]() {
      down.received.end()
      up.received.end()
      await over
    },
  }
}
