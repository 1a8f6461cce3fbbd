import { createSeededRandom } from '@coxswain/kit'
import type { Conversation, Handler, MessageChannel, WireRequest } from '@coxswain/wire'
import {
  acceptSpdy,
  createCertificate,
  createWebSocketUpgrade,
  type HttpServer,
  type KeyPair,
  type SpdyStream,
  serve,
} from '@coxswain/wire/node'

/** A kubelet as far as the API server knows: logs, exec and port-forward, over TLS with client certificates. */
export interface FakeKubelet extends AsyncDisposable {
  readonly port: number
  /** Who signs its certificate and those of its clients. */
  readonly ca: KeyPair
  /** For the API server. */
  readonly client: KeyPair
  /** `CLIENT METHOD PATH?QUERY` of each request. */
  readonly asked: readonly string[]
}

const encoder = new TextEncoder()

/** What the node and its Pod `default/p` use. */
const used = {
  cpu: { time: '2026-01-01T00:00:00Z', usageNanoCores: 120_000_000, usageCoreNanoSeconds: 1 },
  memory: { time: '2026-01-01T00:00:00Z', workingSetBytes: 32 * 1024 * 1024 },
}
const summary = JSON.stringify({
  node: { nodeName: 'elsewhere', ...used },
  pods: [{ podRef: { namespace: 'default', name: 'p', uid: 'u' }, containers: [{ name: 'main', ...used }] }],
})

export async function startFakeKubelet(): Promise<FakeKubelet> {
  const random = createSeededRandom(1)
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 }
  const ca = createCertificate({ subject: { commonName: 'kubelet-ca' }, usages: ['ca'], ...validity }, random)
  const sign = (commonName: string, usage: 'server' | 'client', hosts: string[] = []) =>
    createCertificate({ subject: { commonName }, usages: [usage], hosts, ...validity }, random, ca)
  const own = sign('system:node:elsewhere', 'server', ['127.0.0.1'])
  const asked: string[] = []
  const handler: Handler = async request => {
    const { method, path, query, peer } = request
    asked.push(`${peer?.commonName} ${method} ${path}${query === '' ? '' : `?${query}`}`)
    if (!peer) return { status: 401, headers: {}, body: encoder.encode('Unauthorized') }
    if (path.startsWith('/containerLogs/')) return logOf(request)
    const isSpdy = /^spdy/i.test(String(request.headers.upgrade))
    if (path.startsWith('/exec/')) {
      const command = new URLSearchParams(query).getAll('command')
      return { status: 101, headers: {}, conversation: isSpdy ? execSpdy(command) : execWebSocket(command) }
    }
    if (path === '/stats/summary') return { status: 200, headers: {}, body: encoder.encode(summary) }
    if (path.startsWith('/portForward/')) return { status: 101, headers: {}, conversation: forward }
    return { status: 404, headers: {}, body: encoder.encode('404 page not found') }
  }
  const server: HttpServer = await serve({
    handler,
    upgrade: createWebSocketUpgrade({ handler }),
    tls: { cert: own.certificate, key: own.key, clientCa: ca.certificate },
  })
  return {
    port: server.port,
    ca,
    client: sign('kube-apiserver', 'client'),
    asked,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function logOf({ query, signal }: WireRequest) {
  const isFollowed = query.includes('follow=true')
  const body = (async function* () {
    yield encoder.encode('first line\n')
    if (!isFollowed) return
    await new Promise(resolve => setTimeout(resolve, 100))
    yield encoder.encode('second line\n')
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  })()
  return { status: 200, headers: { 'content-type': 'text/plain' }, body }
}

const outcome = (command: readonly string[]) =>
  encoder.encode(
    JSON.stringify(
      command[0] === 'false'
        ? {
            metadata: {},
            status: 'Failure',
            reason: 'NonZeroExitCode',
            message: 'command terminated with non-zero exit code: exit status 3',
            details: { causes: [{ reason: 'ExitCode', message: '3' }] },
          }
        : { metadata: {}, status: 'Success' },
    ),
  )

function execWebSocket(command: readonly string[]): Conversation {
  return {
    protocols: ['v5.channel.k8s.io', 'v4.channel.k8s.io'],
    async talk({ send }) {
      await send(Uint8Array.of(1, ...encoder.encode(`ran ${command.join(' ')}\n`)))
      await send(Uint8Array.of(3, ...outcome(command)))
    },
  }
}

function execSpdy(command: readonly string[]): Conversation {
  const talk = (channel: MessageChannel) => {
    const streams = new Map<string, SpdyStream>()
    return acceptSpdy(channel, stream => {
      streams.set(stream.headers.get('streamtype') ?? '', stream)
      const [error, stdout] = [streams.get('error'), streams.get('stdout')]
      if (!error || !stdout || streams.size < 3) return
      const say = async () => {
        await stdout.write(encoder.encode(`ran ${command.join(' ')}\n`))
        await error.write(outcome(command))
        for (const one of streams.values()) await one.end()
      }
      say().catch(() => {})
    })
  }
  return { protocols: ['v4.channel.k8s.io'], talk }
}

/** Answers each connection with one HTTP answer. */
const forward: Conversation = {
  protocols: ['portforward.k8s.io', 'SPDY/3.1+portforward.k8s.io'],
  talk: channel =>
    acceptSpdy(channel, stream => {
      const { headers } = stream
      const answer = async () => {
        if (headers.get('streamtype') !== 'data') return
        for await (const _ of stream.data) break
        const body = `port ${headers.get('port')}`
        await stream.write(encoder.encode(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`))
        await stream.end()
      }
      answer().catch(() => {})
    }),
}
