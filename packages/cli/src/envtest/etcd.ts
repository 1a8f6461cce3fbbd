/**
 * The stand-in for etcd: it answers health checks, and tells the stand-in for kube-apiserver where the store is to be. It speaks no gRPC.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { resolve } from 'node:path'
import { CommandError, explainSystemError } from '../exit.ts'
import { type EtcdStandIn, standInPath } from './ask-etcd.ts'

/** Bytes of a request that are read before the connection is closed. */
const longestRequest = 16_384
/** Milliseconds that a connection may be silent. */
const silence = 10_000

const booleans = new Set([
  'unsafe-no-fsync',
  'force-new-cluster',
  'client-cert-auth',
  'peer-client-cert-auth',
])
const known = new Set(['data-dir', 'listen-client-urls', 'unsafe-no-fsync'])
/** Flags that say who the member is: no client of the stand-in asks. */
const silent = new Set(['advertise-client-urls', 'initial-advertise-peer-urls', 'listen-peer-urls', 'name'])

/** Serves until a signal stops it. */
export async function runEtcd(args: readonly string[]): Promise<void> {
  const flags = readFlags(args)
  const ignored = [...flags.keys()].filter(name => !known.has(name) && !silent.has(name))
  if (ignored.length > 0)
    process.stderr.write(
      `etcd: these flags have no effect on the stand-in: ${ignored.map(name => `--${name}`).join(', ')}\n`,
    )
  const dataDir = resolve(flags.get('data-dir') ?? `${flags.get('name') ?? 'default'}.etcd`)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const standIn: EtcdStandIn = { dataDir, isUnsafeNoFsync: flags.get('unsafe-no-fsync') === 'true' }
  const urls = (flags.get('listen-client-urls') ?? 'http://localhost:2379').split(',')
  const servers = await Promise.all(urls.map(url => listen(url, standIn)))
  await new Promise<void>(stop => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop())
  })
  for (const server of servers) server.close()
  process.exit(0) // connections that are kept alive would keep it running
}

/** Go's flags: one dash or two. */
function readFlags(args: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const match = /^--?([a-z0-9-]+)(?:=(.*))?$/s.exec(args[at]!)
    if (!match) throw new CommandError(`etcd: ${JSON.stringify(args[at])} is not a flag`)
    const [, name = '', attached] = match
    flags.set(name, attached ?? (booleans.has(name) ? 'true' : (args[++at] ?? '')))
  }
  return flags
}

function listen(text: string, standIn: EtcdStandIn): Promise<Server> {
  const url = URL.parse(text.trim())
  if (url?.protocol !== 'http:')
    throw new CommandError(`etcd: --listen-client-urls ${text}: the stand-in serves http only`)
  const server = createServer(socket => {
    let request = ''
    socket.setTimeout(silence, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.setEncoding('latin1').on('data', chunk => {
      request += chunk
      if (request.length > longestRequest) socket.destroy()
      for (let end = request.indexOf('\r\n\r\n'); end >= 0; end = request.indexOf('\r\n\r\n')) {
        const head = request.slice(0, end)
        request = request.slice(end + 4)
        socket.write(answer(head, standIn))
        if (/HTTP\/1\.0$|^connection: *close/im.test(head)) socket.end()
      }
    })
  })
  return new Promise((listening, fail) => {
    server.once('error', error =>
      fail(new CommandError(`etcd: ${text} ${explainSystemError(error)}`, { cause: error })),
    )
    server.listen({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) }, () =>
      listening(server),
    )
  })
}

/** The response to the head of a request. */
function answer(head: string, standIn: EtcdStandIn): string {
  const [, path] = /^GET (\S+) HTTP\/1\.[01]$/m.exec(head) ?? []
  const body =
    path === '/health' || path === '/readyz' || path === '/livez'
      ? '{"health":"true","reason":""}'
      : path === '/version'
        ? '{"etcdserver":"3.6.0","etcdcluster":"3.6.0"}'
        : path === standInPath
          ? JSON.stringify(standIn)
          : undefined
  const text = body ?? '404 page not found\n'
  return `HTTP/1.1 ${body === undefined ? '404 Not Found' : '200 OK'}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
