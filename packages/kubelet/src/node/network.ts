import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { NetworkProbe, PortStream, ProbeOutcome } from '../container-runtime.ts'
import { probeGrpc } from './grpc-probe.ts'

/** The loopback addresses that processes listen on. */
const loopback = ['127.0.0.1', '::1']
const maxRedirects = 10
/** The most characters of a redirect's body in a message. */
const maxBody = 10 * 1024

export async function probeNetwork(probe: NetworkProbe): Promise<ProbeOutcome> {
  const host = probe.host ?? loopback[0]!
  if (probe.type === 'grpc') return await probeGrpc(host, probe)
  return probe.type === 'tcp' ? await probeTcp(host, probe) : await probeHttp(host, probe)
}

async function probeTcp(host: string, { port, timeout }: NetworkProbe): Promise<ProbeOutcome> {
  try {
    const socket = await openSocket(host, port, timeout)
    socket.destroy()
    return { success: true, message: '' }
  } catch (error) {
    return { success: false, message: explain(host, port, error) }
  }
}

/** Redirects to the same host are followed, as kubelets do; one to another host counts as a success, with a warning. */
async function probeHttp(host: string, probe: NetworkProbe & { type: 'http' }): Promise<ProbeOutcome> {
  const { port, scheme, headers } = probe
  const path = probe.path.startsWith('/') ? probe.path : `/${probe.path}`
  const first = `${scheme.toLowerCase()}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
  const signal = AbortSignal.timeout(probe.timeout)
  let url = first
  for (let count = 0; count < maxRedirects; count++) {
    const answer = await ask(url, headers, signal)
    if ('failure' in answer) return { success: false, message: `Get "${url}": ${answer.failure}` }
    const { status, location, body } = answer
    if (status < 200 || status >= 400)
      return { success: false, message: `HTTP probe failed with statuscode: ${status}` }
    if (status < 300) return { success: true, message: '' }
    const next = location === undefined ? undefined : URL.parse(location, url)
    if (!next || next.hostname !== URL.parse(first)?.hostname) {
      const message = `Probe terminated redirects, Response body: ${body}`
      return { success: true, message, isWarning: true }
    }
    url = next.href
  }
  return { success: false, message: `Get "${url}": stopped after ${maxRedirects} redirects` }
}

type HttpAnswer =
  | { readonly status: number; readonly location: string | undefined; readonly body: string }
  | { readonly failure: string }

function ask(
  url: string,
  headers: readonly { readonly name: string; readonly value: string }[],
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const own = Map.groupBy(headers, ({ name }) => name.toLowerCase())
  return new Promise(resolve => {
    const sent = (protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      {
        agent: false,
        rejectUnauthorized: false,
        headers: {
          'user-agent': 'kube-probe/1.36',
          accept: '*/*',
          connection: 'close',
          ...Object.fromEntries(
            Array.from(own, ([name, all]) => {
              const values = all.map(({ value }) => value)
              return [name, values.length === 1 ? values[0] : values]
            }),
          ),
        },
        signal,
      },
      response => {
        const { statusCode = 0 } = response
        let body = ''
        const done = () => resolve({ status: statusCode, location: response.headers.location, body })
        if (statusCode < 300 || statusCode >= 400) {
          response.destroy()
          done()
          return
        }
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          body += text
          if (body.length > maxBody) response.destroy()
        })
        response.on('close', done)
        response.on('error', done)
      },
    )
    sent.on('error', error => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError'
      const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
      const to = Number(port || (protocol === 'https:' ? 443 : 80))
      resolve({ failure: isLate ? late : explain(host, to, error) })
    })
    sent.end()
  })
}

function explain(host: string, port: number, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `dial tcp ${host}:${port}: ${code === 'ECONNREFUSED' ? 'connect: connection refused' : message}`
}

/** Rejects when the connection is refused, or not established within `timeout` milliseconds. */
export function openSocket(host: string, port: number, timeout: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true })
    const timer = setTimeout(() => socket.destroy(new Error('i/o timeout')), timeout)
    socket.once('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

/** The most concurrent connections to Pods for clients. */
const maxDialled = 1_000
let dialled = 0

/** Rejects when nothing listens on any loopback address, or there are too many connections. */
export async function dialPort(port: number): Promise<PortStream> {
  if (dialled >= maxDialled) throw new Error(`connect to localhost:${port}: too many connections`)
  let failure: unknown
  for (const host of loopback) {
    try {
      const socket = await openSocket(host, port, 10_000)
      dialled++
      socket.once('close', () => dialled--)
      return createPortStream(socket)
    } catch (error) {
      failure ??= error
    }
  }
  throw new Error(`connect to localhost:${port}: ${explain('127.0.0.1', port, failure)}`)
}

function createPortStream(socket: Socket): PortStream {
  socket.on('error', () => {}) // reported by the iteration of its data
  return {
    data: socket,
    async write(chunk) {
      if (socket.destroyed || socket.writableEnded || socket.write(chunk)) return
      await new Promise<void>(resolve => {
        const done = () => {
          socket.off('drain', done).off('close', done)
          resolve()
        }
        socket.on('drain', done).on('close', done)
      })
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  }
}
