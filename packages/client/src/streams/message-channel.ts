import type { Transport, WireRequest, WireResponse } from '@coxswain/wire'

/** A connection on which both sides send messages whenever they like: a WebSocket. */
export interface MessageChannel extends AsyncDisposable {
  /** The one of the protocols offered that the server chose. */
  readonly protocol: string
  /** What the server sends, for one consumer. Ends when it closes; throws `ConnectionLost` when it breaks off. */
  readonly messages: AsyncIterable<Uint8Array>
  /** Resolves when there is room for more. Rejects when the channel is closed. */
  send(message: Uint8Array): Promise<void>
  /** Resolves when the connection is closed. */
  close(): Promise<void>
}

/** A transport over which a connection can be upgraded: over sockets, or in process. */
export interface UpgradingTransport extends Transport {
  /** The channel, or the answer of a server that refuses it. */
  upgrade(request: WireRequest, protocols: readonly string[]): Promise<MessageChannel | WireResponse>
}

export function canUpgrade(transport: Transport): transport is UpgradingTransport {
  return 'upgrade' in transport && typeof transport.upgrade === 'function'
}

export function isMessageChannel(answer: MessageChannel | WireResponse): answer is MessageChannel {
  return 'messages' in answer
}
