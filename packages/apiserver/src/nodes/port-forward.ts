import { encodeText } from '@coxswain/kit'
import type { Conversation, MessageChannel } from '@coxswain/wire'
import type { PortStream } from './node-connection.ts'

const protocols: readonly string[] = ['v4.channel.k8s.io']

type Dial = (port: number) => Promise<PortStream>

/**
 * Port forwarding with two streams per port, which is all that a WebSocket without a tunnel supports: data and
 * errors. Each begins with the port number, low byte first.
 */
export function createPortConversation(ports: readonly number[], dial: Dial): Conversation {
  return { protocols, talk: channel => talk(channel, ports, dial) }
}

async function talk(channel: MessageChannel, ports: readonly number[], dial: Dial): Promise<void> {
  const send = async (id: number, data: Uint8Array): Promise<void> => {
    const message = new Uint8Array(data.length + 1)
    message[0] = id
    message.set(data, 1)
    await channel.send(message)
  }
  const connections = await Promise.all(
    ports.map(async (port, index) => {
      const number = Uint8Array.of(port & 0xff, port >> 8)
      await send(index * 2, number)
      await send(index * 2 + 1, number)
      try {
        return await dial(port)
      } catch (error) {
        const text = `error forwarding port ${port} to pod: ${(error as Error).message}`
        await send(index * 2 + 1, encodeText(text))
        return undefined
      }
    }),
  )
  const forward = async (connection: PortStream | undefined, index: number) => {
    if (!connection) return
    try {
      for await (const chunk of connection.data) await send(index * 2, chunk)
    } catch {
      // the connection to the port failed: the client sees it end
    }
  }
  const receive = async () => {
    for await (const message of channel.messages) {
      const id = message[0] ?? 1
      if (id % 2 === 0) await connections[id / 2]?.write(message.subarray(1))
    }
  }
  const ended = Promise.all(connections.map(forward))
  await Promise.race([ended, receive()])
  for (const connection of connections) connection?.destroy()
}
