import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLogger, isReported, type LogRecord, VirtualWorld } from '@coxswain/kit'
import { type Transport, TransportError } from '@coxswain/wire'
import { createClient } from './index.ts'

describe('a client whose server becomes unreachable', () => {
  it('logs once that it cannot be reached and once that it answers again, without a stack', async () => {
    const records: LogRecord[] = []
    const env = new VirtualWorld({ log: () => createLogger(record => records.push(record)) })
    let isUp = true
    const transport: Transport = {
      send: async () => {
        if (!isUp)
          throw new TransportError('ConnectFailed', '127.0.0.1:6443: connect ECONNREFUSED', { sent: false })
        return { status: 200, headers: {}, body: new TextEncoder().encode('{}') }
      },
      async [Symbol.asyncDispose]() {},
    }
    const client = createClient({ transport, env })
    const ask = () => env.run(client.raw.request({ path: '/version' }))
    await ask()
    for (let outage = 0; outage < 2; outage++) {
      isUp = false
      for (let i = 0; i < 20; i++) await assert.rejects(ask(), isReported)
      isUp = true
      for (let i = 0; i < 3; i++) await ask()
    }
    const lost = {
      level: 'warn',
      message: 'the API server cannot be reached, will try again',
      fields: { reason: '127.0.0.1:6443: connect ECONNREFUSED' },
    }
    const back = { level: 'info', message: 'the API server answers again', fields: {} }
    assert.deepEqual(records, [lost, back, lost, back])
  })
})
