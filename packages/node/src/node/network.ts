import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { NetworkProbe, PortStream, ProbeOutcome } from '../container-runtime.ts'
import { probeGrpc } from './grpc-probe.ts'

/** Where processes of this machine listen that listen nowhere else. */
const loopback = ['127.0.0.1', '::1']

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

function probeHttp(host: string, probe: NetworkProbe & { type: 'http' }): Promise<ProbeOutcome> {
  const { port, timeout, scheme, headers } = probe
  const path = probe.path.startsWith('/') ? probe.path : `/${probe.path}`
  const isTls = scheme.toUpperCase() === 'HTTPS'
  const request = isTls ? httpsRequest : httpRequest
  const url = `${isTls ? 'https' : 'http'}://${host}:${port}${path}`
  return new Promise(resolve => {
    const fail = (reason: string) => resolve({ success: false, message: `Get "${url}": ${reason}` })
    const sent = request(
      {
        host,
        port,
        path,
        agent: false,
        rejectUnauthorized: false,
        headers: {
          'user-agent': 'kube-probe/1.36',
          accept: '*/*',
          connection: 'close',
          ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
        },
        signal: AbortSignal.timeout(timeout),
      },
      response => {
        const { statusCode = 0 } = response
        response.destroy()
        if (statusCode >= 200 && statusCode < 400) resolve({ success: true, message: '' })
        else resolve({ success: false, message: `HTTP probe failed with statuscode: ${statusCode}` })
      },
    )
    sent.on('error', error => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError'
      fail(
        isLate
          ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
          : explain(host, port, error),
      )
    })
    sent.end()
  })
}

function explain(host: string, port: number, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return `dial tcp ${host}:${port}: ${code === 'ECONNREFUSED' ? 'connect: connection refused' : message}`
}

/** Rejects when nobody listens, or nobody answers in `timeout` milliseconds. */
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

/** Rejects when nobody listens on any loopback address. */
export async function dialPort(port: number): Promise<PortStream> {
  let failure: unknown
  for (const host of loopback) {
    try {
      return createPortStream(await openSocket(host, port, 10_000))
    } catch (error) {
      failure ??= error
    }
  }
  throw new Error(`connect to localhost:${port}: ${explain('127.0.0.1', port, failure)}`)
}

function createPortStream(socket: Socket): PortStream {
  socket.on('error', () => {}) // the iteration of its data tells
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
