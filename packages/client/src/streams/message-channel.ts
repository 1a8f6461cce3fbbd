import type { Transport, WireRequest, WireResponse } from '@coxswain/wire'

/** A bidirectional connection for messages: a WebSocket. */
export interface MessageChannel extends AsyncDisposable {
  /** The protocol that the server chose. */
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

/** Whether a transport can open WebSockets. */
export function canUpgrade(transport: Transport): transport is UpgradingTransport {
  return 'upgrade' in transport && typeof transport.upgrade === 'function'
}

export function isMessageChannel(answer: MessageChannel | WireResponse): answer is MessageChannel {
  return 'messages' in answer
}
