import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { decodeText } from '@coxswain/kit'
import { TransportError } from '@coxswain/wire'
import type { Client } from '../client.ts'
import type { CallOptions } from '../options.ts'
import type { MessageChannel } from './message-channel.ts'
import { OutputStream } from './output-stream.ts'
import { podPath } from './pod-path.ts'

/** A connection to a port of a Pod. Disposing it breaks it off. */
export interface PortConnection extends AsyncDisposable {
  /** What the Pod sends. Throws when the port refuses the connection, or when it breaks. */
  readonly data: AsyncIterable<Uint8Array>
  /** Resolves when there is room for more. */
  write(data: Uint8Array): Promise<void>
}

const protocol = 'v4.channel.k8s.io'
/** Each port has two streams; this is the only one. */
const dataStream = 0
const errorStream = 1
/** The first message of each stream says which port it is for. */
const portBytes = 2

/** Opens one connection to a port of a Pod. Needs a transport that can upgrade connections: over sockets, or in process. */
export async function forwardPort(
  client: Client,
  pod: ObjectKey,
  port: number,
  options: CallOptions = {},
): Promise<PortConnection> {
  const channel = await client.raw.upgrade(
    { path: podPath(pod, 'portforward'), query: { ports: String(port) }, ...options },
    [protocol],
  )
  const data = new OutputStream()
  receive(channel, data).then(
    () => data.end(),
    error => data.fail(error),
  )
  return {
    data,
    async write(chunk) {
      const message = new Uint8Array(chunk.length + 1)
      message[0] = dataStream
      message.set(chunk, 1)
      await channel.send(message)
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  }
}

async function receive(channel: MessageChannel, data: OutputStream): Promise<void> {
  const isOpen = [false, false]
  for await (const message of channel.messages) {
    const stream = message[0] ?? dataStream
    let content = message.subarray(1)
    if (content.length > 0 && isOpen[stream] === false) {
      isOpen[stream] = true
      content = content.subarray(portBytes)
    }
    if (content.length === 0) continue
    if (stream === errorStream) {
      const reason = decodeText(content)
      throw new TransportError('ConnectFailed', `the port cannot be reached: ${reason}`)
    }
    await data.push(content)
  }
}
