import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { describe, it } from 'node:test'
import { isForbidden, isStatusError } from '@coxswain/apimachinery/status'
import { createRealEnv } from '@coxswain/kit'
import { createInProcessTransport, isTransportError, type Transport } from '@coxswain/wire'
import { createHttpTransport } from '@coxswain/wire/node'
import {
  attach,
  type Client,
  createClient,
  exec,
  execute,
  forwardPort,
  isClientError,
  readLog,
} from '../index.ts'
import {
  type FakeKubeletOptions,
  type ServedChannel,
  startFakeKubelet,
} from '../test-support/fake-kubelet.ts'
import { startScripted } from '../test-support/scripted-server.ts'
import { listenForwarded, withCredentials, withUpgrade } from './index.ts'

const pod = { namespace: 'default', name: 'web' }
const env = createRealEnv()
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const success = JSON.stringify({ metadata: {}, status: 'Success' }) // as kubelets write it: without apiVersion and kind
const exitedWith = (code: number): string =>
  JSON.stringify({
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with exit code ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  })

async function connected(options: FakeKubeletOptions): Promise<{ client: Client } & AsyncDisposable> {
  const kubelet = await startFakeKubelet(options)
  const transport = withUpgrade(createHttpTransport({ server: kubelet.url }), { server: kubelet.url })
  return {
    client: createClient({ transport, env }),
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]()
      await kubelet[Symbol.asyncDispose]()
    },
  }
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let all = ''
  for await (const chunk of stream) all += text(chunk)
  return all
}

describe('exec', () => {
  it('sends the request that kubectl does, separates the streams and ends with the exit code', async () => {
    let seen: ServedChannel | undefined
    await using server = await connected({
      serve: channel => {
        seen = channel
        for (const id of [1, 2, 3]) channel.send(id, '')
        channel.send(1, 'out 1\n')
        channel.send(2, 'err\n')
        channel.send(1, 'out 2\n')
        channel.send(3, exitedWith(3))
        channel.close()
      },
    })
    await using process = await exec(server.client, pod, { command: ['sh', '-c', 'a & b'], container: 'c' })
    assert.deepEqual(await Promise.all([collect(process.stdout), collect(process.stderr)]), [
      'out 1\nout 2\n',
      'err\n',
    ])
    assert.equal(await process.exited, 3)
    assert.equal(seen!.url.pathname, '/api/v1/namespaces/default/pods/web/exec')
    assert.deepEqual(seen!.url.searchParams.getAll('command'), ['sh', '-c', 'a & b'])
    const { searchParams } = seen!.url
    assert.deepEqual(
      ['container', 'stdin', 'stdout', 'stderr', 'tty'].map(name => searchParams.get(name)),
      ['c', null, 'true', 'true', null],
    )
    assert.equal(seen!.headers['sec-websocket-protocol'], 'v5.channel.k8s.io, v4.channel.k8s.io')
  })

  it('sends a command its input and its end', async () => {
    await using server = await connected({
      serve: async channel => {
        let input = ''
        for await (const message of channel.messages) {
          if (message[0] === 255 && message[1] === 0) break
          assert.equal(message[0], 0)
          input += text(message.subarray(1))
        }
        channel.send(1, input.toUpperCase())
        channel.send(3, success)
        channel.close()
      },
    })
    const output = await execute(server.client, pod, { command: ['tr'], input: 'abc'.repeat(50_000) })
    assert.deepEqual(output, { exitCode: 0, stdout: 'ABC'.repeat(50_000), stderr: '' })
  })

  it('has a terminal that can be resized', async () => {
    const sizes: unknown[] = []
    await using server = await connected({
      serve: async channel => {
        assert.deepEqual(
          ['stdin', 'stderr', 'tty'].map(name => channel.url.searchParams.get(name)),
          ['true', null, 'true'],
        )
        for await (const message of channel.messages) {
          assert.equal(message[0], 4)
          sizes.push(JSON.parse(text(message.subarray(1))))
          if (sizes.length === 2) break
        }
        channel.send(3, success)
        channel.close()
      },
    })
    await using process = await exec(server.client, pod, { command: ['sh'], stdin: true, tty: true })
    await process.resize({ width: 80, height: 24 })
    await process.resize({ width: 120, height: 40 })
    assert.equal(await process.exited, 0)
    assert.deepEqual(sizes, [
      { Width: 80, Height: 24 },
      { Width: 120, Height: 40 },
    ])
  })

  it("throws the server's error when a command cannot be run, or the upgrade is rejected", async () => {
    const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure' }
    await using server = await connected({
      serve: channel => {
        const status = { ...failure, reason: 'InternalError', code: 500, message: 'no such file' }
        channel.send(3, JSON.stringify(status))
        channel.close()
      },
    })
    await using process = await exec(server.client, pod, { command: ['nothing'] })
    await assert.rejects(process.exited, error => isStatusError(error) && /no such file/.test(error.message))

    await using strict = await connected({
      refuse: () => ({
        status: 403,
        body: JSON.stringify({ ...failure, reason: 'Forbidden', code: 403, message: 'no exec for you' }),
      }),
      serve: () => {},
    })
    await assert.rejects(exec(strict.client, pod, { command: ['sh'] }), isForbidden)
  })

  it('does not treat a broken connection as the end of the command', async () => {
    await using server = await connected({
      serve: channel => {
        channel.send(1, 'half')
        channel.destroy()
      },
    })
    await using process = await exec(server.client, pod, { command: ['sh'] })
    const lost = (error: unknown) => isTransportError(error, 'ConnectionLost')
    await assert.rejects(process.exited, lost)
    await assert.rejects(collect(process.stdout), lost)
    await assert.rejects(process.write('x'), lost)
  })

  it('rejects a server with another protocol, or none', async () => {
    await using server = await connected({ protocols: ['v9.channel.k8s.io'], serve: () => {} })
    const bad = (error: unknown) => isTransportError(error, 'BadMessage')
    await assert.rejects(exec(server.client, pod, { command: ['sh'] }), bad)
    await using noisy = await connected({ serve: channel => channel.raw(Uint8Array.of(0xff, 0x00)) })
    await using process = await exec(noisy.client, pod, { command: ['sh'] })
    await assert.rejects(process.exited, bad)
  })

  it('ends with its signal, and closes the connection', async () => {
    const gone = Promise.withResolvers<void>()
    await using server = await connected({
      serve: async channel => {
        for await (const _ of channel.messages);
        gone.resolve()
      },
    })
    const controller = new AbortController()
    await using process = await exec(server.client, pod, { command: ['sleep'], signal: controller.signal })
    controller.abort()
    await gone.promise
    await assert.rejects(process.exited)
  })

  it('continues when the output of a command is not read', async () => {
    await using server = await connected({
      serve: channel => {
        const chunk = 'x'.repeat(100_000)
        for (let index = 0; index < 40; index++) channel.send(1, chunk)
        channel.send(3, success)
        channel.close()
      },
    })
    await using process = await exec(server.client, pod, { command: ['yes'] })
    assert.equal(await process.exited, 0)
    const kept = (await collect(process.stdout)).length
    assert.ok(kept >= 900_000 && kept <= 1_100_000, `${kept} bytes were kept`)
  })

  it('joins a running process', async () => {
    await using server = await connected({
      serve: channel => {
        channel.send(1, channel.url.pathname)
        channel.send(3, success)
        channel.close()
      },
    })
    await using process = await attach(server.client, pod)
    assert.equal(await collect(process.stdout), '/api/v1/namespaces/default/pods/web/attach')
  })

  it('needs a transport that can upgrade connections', async () => {
    await using transport = createInProcessTransport(async () => ({ status: 200, headers: {} }), env)
    const client = createClient({ transport: { ...transport, upgrade: undefined } as Transport, env })
    await assert.rejects(exec(client, pod, { command: ['sh'] }), error => isClientError(error, 'NoUpgrade'))
  })

  it('sends its credentials, and renews them once', async () => {
    const tokens: string[] = []
    const kubelet = await startFakeKubelet({
      refuse: ({ headers }) => {
        tokens.push(String(headers.authorization))
        return headers.authorization === 'Bearer new' ? undefined : { status: 401, body: '{}' }
      },
      serve: channel => {
        channel.send(3, success)
        channel.close()
      },
    })
    let token = 'old'
    await using stack = new AsyncDisposableStack()
    stack.use(kubelet)
    const inner = withUpgrade(createHttpTransport({ server: kubelet.url }), { server: kubelet.url })
    const transport = withCredentials(inner, {
      authorization: async () => `Bearer ${token}`,
      refresh: async () => {
        token = 'new'
        return true
      },
    })
    stack.use(transport)
    await using process = await exec(createClient({ transport, env }), pod, { command: ['sh'] })
    assert.equal(await process.exited, 0)
    assert.deepEqual(tokens, ['Bearer old', 'Bearer new'])
  })
})

describe('port-forward', () => {
  const echo = async (channel: ServedChannel): Promise<void> => {
    assert.equal(channel.url.pathname, '/api/v1/namespaces/default/pods/web/portforward')
    assert.equal(channel.url.searchParams.get('ports'), '8080')
    for (const id of [0, 1]) channel.send(id, Uint8Array.of(8080 & 0xff, 8080 >> 8))
    for await (const message of channel.messages) channel.send(0, message.subarray(1))
  }

  it('carries bytes in both directions', async () => {
    await using server = await connected({ serve: echo })
    await using connection = await forwardPort(server.client, pod, 8080)
    await connection.write(new TextEncoder().encode('hello'))
    for await (const chunk of connection.data) {
      assert.equal(text(chunk), 'hello')
      break
    }
  })

  it('reports a refused connection', async () => {
    await using server = await connected({
      serve: channel => {
        for (const id of [0, 1]) channel.send(id, Uint8Array.of(80, 0))
        channel.send(1, 'connection refused')
        channel.close()
      },
    })
    await using connection = await forwardPort(server.client, pod, 80)
    await assert.rejects(collect(connection.data), /connection refused/)
  })

  it('listens on a port of this machine', async () => {
    await using server = await connected({ serve: echo })
    await using local = await listenForwarded(server.client, pod, { port: 8080 })
    for (const greeting of ['one', 'two']) {
      const socket = connectTcp(local.port, local.host)
      socket.write(greeting)
      const [data] = await once(socket, 'data')
      assert.equal(text(data), greeting)
      socket.destroy()
    }
  })
})

describe('logs', () => {
  it('are read line by line, however the chunks are split', async () => {
    const chunks = ['one\ntw', 'o\n', 'thr\u00e9', 'e']
    await using server = startScripted([
      { status: 200, headers: {}, body: chunks.map(chunk => new TextEncoder().encode(chunk)) },
    ])
    const lines = await Array.fromAsync(readLog(server.client, pod, { follow: true, tailLines: 5 }))
    assert.deepEqual(lines, ['one', 'two', 'thrée'])
    assert.deepEqual(server.calls(), ['GET /api/v1/namespaces/default/pods/web/log?follow=true&tailLines=5'])
  })

  it('are followed until the loop is left', async () => {
    let ended = false
    async function* endless() {
      try {
        for (let line = 0; ; line++) yield new TextEncoder().encode(`${line}\n`)
      } finally {
        ended = true
      }
    }
    await using server = startScripted([{ status: 200, headers: {}, body: endless() }])
    const lines: string[] = []
    for await (const line of readLog(server.client, pod, { follow: true })) {
      lines.push(line)
      if (lines.length === 3) break
    }
    assert.deepEqual(lines, ['0', '1', '2'])
    await server[Symbol.asyncDispose]()
    assert.equal(ended, true)
  })
})
