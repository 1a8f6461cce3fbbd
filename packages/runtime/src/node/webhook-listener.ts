import { connect } from 'node:tls'
import type { Clock, Logger } from '@coxswain/kit'
import { type HttpServer, serve } from '@coxswain/wire/node'
import type { WebhookKeyPair } from '../webhook/certificates.ts'
import { hostsOf, type WebhookAddress } from '../webhook/configurations.ts'
import type { Replica } from '../webhook/replica.ts'
import { maxReviewBytes } from '../webhook/review.ts'
import type { WebhookListener } from '../webhook/webhook-host.ts'
import { type CertificateFiles, followCertificate, readCertificateFiles } from './certificate-files.ts'

/** Options of {@link createWebhookListener}. */
export interface WebhookListenerOptions {
  /** @default 9443; 0 picks a free one */
  readonly port?: number
  /** Used instead of `port` if it is free. */
  readonly preferredPort?: number
  /** @default '127.0.0.1', and every address of the machine for a service */
  readonly host?: string
  /** The Service of this Pod. @default API servers are given the URL of the socket */
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number }
  /** Certificate files that are renewed by others, such as cert-manager. @default certificates are created here */
  readonly certificate?: CertificateFiles
  readonly clock: Clock
  readonly log: Logger
}

const defaultPort = 9443
/** Reviews have an object and its predecessor, both of the largest size. */
const limits = { bodyBytes: maxReviewBytes }
/** The timeout for another process to answer. */
const probeLimit = 1_000

/** The listener of a webhook server: HTTPS on a port, with certificates that can be replaced while it runs. */
export function createWebhookListener(options: WebhookListenerOptions): WebhookListener {
  const { port = defaultPort, preferredPort, service, certificate, log } = options
  const host = options.host ?? (service ? '0.0.0.0' : '127.0.0.1')
  const hosts = service ? hostsOf({ service }) : [host === '0.0.0.0' ? '127.0.0.1' : host, 'localhost']
  let server: HttpServer | undefined
  const setKeyPair = ({ certificate: cert, key }: WebhookKeyPair): void => server?.setTls({ cert, key })
  return {
    hosts,
    setKeyPair,
    answers,
    async listen(handler, signal, given): Promise<WebhookAddress> {
      const pair = certificate === undefined ? given : await readCertificateFiles(certificate)
      if (!pair) throw new Error('a webhook server needs a certificate')
      const { certificate: cert, key } = pair
      const serveAt = (at: number) => serve({ handler, host, port: at, tls: { cert, key }, limits, log })
      const started =
        preferredPort === undefined
          ? await serveAt(port)
          : await serveAt(preferredPort).catch(() => serveAt(port))
      server = started
      const close = (): void => void started.close().catch(error => log.error('cannot close', { error }))
      if (signal.aborted) close()
      else signal.addEventListener('abort', close, { once: true })
      if (certificate !== undefined)
        followCertificate(certificate, pair, { ...options, signal, onChange: setKeyPair })
      return service ? { service } : { url: `https://${hosts[0]}:${started.port}` }
    },
  }
}

/** Whether a server with a certificate of the CA listens there. Services may be unreachable from here: they count as served. */
async function answers({ url, service, caBundle }: Replica, signal: AbortSignal): Promise<boolean> {
  if (service || url === undefined) return service !== undefined
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const ca = caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64') }
  const socket = connect({ host, port: Number(port) || 443, ...ca, timeout: probeLimit })
  const onAbort = (): void => void socket.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await new Promise<boolean>(resolve => {
      socket.once('secureConnect', () => resolve(true))
      for (const end of ['error', 'timeout', 'close'] as const) socket.once(end, () => resolve(false))
    })
  } finally {
    signal.removeEventListener('abort', onAbort)
    socket.on('error', () => {})
    socket.destroy()
  }
}
