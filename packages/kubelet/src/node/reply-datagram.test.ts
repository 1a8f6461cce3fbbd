import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { replyDatagram } from './reply-datagram.ts'

describe('a reply to a datagram', () => {
  it('reaches the client, and is not sent to port 0', async () => {
    const [server, client] = [createSocket('udp4'), createSocket('udp4')]
    try {
      client.bind(0, '127.0.0.1')
      await once(client, 'listening')
      const data = new TextEncoder().encode('reply')
      assert.throws(() => server.send(data, 0, '127.0.0.1'), { code: 'ERR_SOCKET_BAD_PORT' })
      replyDatagram(server, { address: '127.0.0.1', port: 0 }, data)
      const received = once(client, 'message')
      replyDatagram(server, client.address(), data)
      assert.equal(String((await received)[0]), 'reply')
    } finally {
      server.close()
      client.close()
    }
  })
})
