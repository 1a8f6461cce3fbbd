import { hostname, networkInterfaces } from 'node:os'
import type { Env } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { type ServerLimits, serve } from '@coxswain/wire/node'
import type { WebhookKeyPair } from '../webhook/certificates.ts'
import { type CertificateFiles, followCertificate, readCertificateFiles } from './certificate-files.ts'
import { createCertificateMaker } from './certificate-maker.ts'

/** HTTPS with the certificate of these files, or with a self-signed one. */
export interface EndpointTls {
  readonly files?: CertificateFiles
}

/** Options of {@link serveEndpoint}. */
export interface EndpointOptions {
  readonly env: Env
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 picks a free one. */
  readonly port: number
  /** @default plain HTTP */
  readonly tls?: EndpointTls
  /** @default 64 KiB of headers and of body, and the timeouts of the API server */
  readonly limits?: ServerLimits
}

/** An endpoint that is being served. */
export interface Endpoints extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

const day = 24 * 60 * 60_000
/** The validity of a self-signed certificate, longer than it is used. */
const validity = 365 * day
const renewal = 90 * day
/** Requests for health, metrics and profiles are short. */
const defaultLimits = { bodyBytes: 64 * 1024, headerBytes: 64 * 1024 }

/** Serves metrics, health checks or any other handler. Disposing it ends requests in progress. */
export async function serveEndpoint(handler: Handler, options: EndpointOptions): Promise<Endpoints> {
  const { env, host = '127.0.0.1', port, tls } = options
  const files = tls?.files
  const pair = tls && (files ? await readCertificateFiles(files) : makeCertificate(env))
  const server = await serve({
    handler,
    host,
    port,
    limits: { ...defaultLimits, ...options.limits },
    log: env.log,
    ...(pair && { tls: { cert: pair.certificate, key: pair.key } }),
  })
  const stop = new AbortController()
  const onChange = ({ certificate: cert, key }: WebhookKeyPair): void => server.setTls({ cert, key })
  if (pair && files) followCertificate(files, pair, { ...env, signal: stop.signal, onChange })
  else if (pair) renew(env, stop.signal, onChange)
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await server[Symbol.asyncDispose]()
    },
  }
}

/**
 * Parses `:8443`, `127.0.0.1:8443` or `[::1]:8443`; undefined for `0`: nothing is served.
 * @throws Error for anything else
 */
export function parseBindAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  if (text === '0') return undefined
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new Error('must be an address such as :8443 or 127.0.0.1:8443, or 0 to disable it')
  return { host: bracketed ?? (plain || everyAddress()), port: Number(port) }
}

/** The wildcard address, of both families where this machine has both. */
function everyAddress(): string {
  const addresses = Object.values(networkInterfaces()).flat()
  return addresses.some(address => address?.family === 'IPv6') ? '::' : '0.0.0.0'
}

function makeCertificate({ clock, random }: Env): WebhookKeyPair {
  const maker = createCertificateMaker(random)
  const times = { notBefore: clock.now() - day, notAfter: clock.now() + validity }
  return maker.createServer(
    [hostname(), 'localhost', '127.0.0.1', '::1'],
    times,
    maker.createCa('metrics', times),
  )
}

function renew(env: Env, signal: AbortSignal, onChange: (pair: WebhookKeyPair) => void): void {
  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      await env.clock.sleep(renewal, { signal })
      onChange(makeCertificate(env))
    }
  }
  look().catch(() => {}) // the signal
}
