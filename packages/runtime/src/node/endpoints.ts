import { hostname, networkInterfaces } from 'node:os'
import type { Env } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { serve } from '@coxswain/wire/node'
import type { WebhookKeyPair } from '../webhook/certificates.ts'
import { type CertificateFiles, followCertificate, readCertificateFiles } from './certificate-files.ts'
import { createCertificateMaker } from './certificate-maker.ts'

/** HTTPS with the certificate of these files, or with a self-signed one. */
export interface EndpointTls {
  readonly files?: CertificateFiles
}

export interface EndpointOptions {
  readonly env: Env
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 picks a free one. */
  readonly port: number
  /** @default plain HTTP */
  readonly tls?: EndpointTls
}

export interface Endpoints extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

const day = 24 * 60 * 60_000
/** A certificate that is made here lasts longer than it is used. */
const validity = 365 * day
const renewal = 90 * day
/** Those who ask for health, metrics and profiles send short requests. */
const limits = { bodyBytes: 64 * 1024, headerBytes: 64 * 1024 }

/** Serves metrics, health checks or whatever the handler answers. Disposing it ends requests that are under way. */
export async function serveEndpoint(handler: Handler, options: EndpointOptions): Promise<Endpoints> {
  const { env, host = '127.0.0.1', port, tls } = options
  const files = tls?.files
  const pair = tls && (files ? await readCertificateFiles(files) : makeCertificate(env))
  const server = await serve({
    handler,
    host,
    port,
    limits,
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
 * Reads `:8443`, `127.0.0.1:8443` or `[::1]:8443`; `0` is undefined: nothing is served.
 * @throws Error for what is none of them
 */
export function parseBindAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  if (text === '0') return undefined
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new Error('an address like :8443 or 127.0.0.1:8443 is needed, or 0 for none')
  return { host: bracketed ?? (plain || everyAddress()), port: Number(port) }
}

/** What stands for all addresses of this machine, of both families where it has both. */
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
