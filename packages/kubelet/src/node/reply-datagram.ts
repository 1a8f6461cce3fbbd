import type { RemoteInfo, Socket } from 'node:dgram'

/** Sends a datagram back to its client. Nothing can be sent to port 0, which a datagram may claim to come from. */
export function replyDatagram(
  socket: Pick<Socket, 'send'>,
  { address, port }: Pick<RemoteInfo, 'address' | 'port'>,
  data: Uint8Array,
): void {
  if (port > 0) socket.send(data, port, address)
}
