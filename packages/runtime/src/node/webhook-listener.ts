import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { Clock, Logger } from '@coxswain/kit'
import { type HttpServer, serve } from '@coxswain/wire/node'
import type { WebhookKeyPair } from '../webhook/certificates.ts'
import { hostsOf, type WebhookAddress } from '../webhook/configurations.ts'
import type { Replica } from '../webhook/replica.ts'
import type { WebhookListener } from '../webhook/webhook-host.ts'

export interface WebhookListenerOptions {
  /** @default 9443; 0 picks a free one */
  readonly port?: number
  /** @default '127.0.0.1', and every address of the machine for a service */
  readonly host?: string
  /** The Service that leads here, in a Pod. @default API servers are given the URL of the socket */
  readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number }
  /** A folder with `tls.crt` and `tls.key` that somebody else renews, as cert-manager does. @default they are made here */
  readonly certDir?: string
  readonly clock: Clock
  readonly log: Logger
}

const defaultPort = 9443
/** How often the files are read, as controller-runtime does. */
const filePeriod = 10_000
/** How long another process may take to answer. */
const probeLimit = 1_000

/** Webhooks over HTTPS. */
export function createWebhookListener(options: WebhookListenerOptions): WebhookListener {
  const { port = defaultPort, service, certDir, log } = options
  const host = options.host ?? (service ? '0.0.0.0' : '127.0.0.1')
  const hosts = service ? hostsOf({ service }) : [host === '0.0.0.0' ? '127.0.0.1' : host, 'localhost']
  let server: HttpServer | undefined
  const setKeyPair = ({ certificate: cert, key }: WebhookKeyPair): void => server?.setTls({ cert, key })
  return {
    hosts,
    setKeyPair,
    answers,
    async listen(handler, signal, given): Promise<WebhookAddress> {
      const pair = certDir === undefined ? given : await readPair(certDir)
      if (!pair) throw new Error('a webhook server needs a certificate')
      const { certificate: cert, key } = pair
      const started = await serve({ handler, host, port, tls: { cert, key }, log })
      server = started
      const close = (): void => void started.close().catch(error => log.error('cannot close', { error }))
      if (signal.aborted) close()
      else signal.addEventListener('abort', close, { once: true })
      if (certDir !== undefined) {
        follow(certDir, pair, { ...options, signal, setKeyPair })
      }
      return service ? { service } : { url: `https://${hosts[0]}:${started.port}` }
    },
  }
}

/** Whether a server that the CA vouches for listens there. Services cannot be asked from everywhere: they count as served. */
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

async function readPair(folder: string): Promise<WebhookKeyPair> {
  const [certificate, key] = await Promise.all(
    ['tls.crt', 'tls.key'].map(name => readFile(join(folder, name), 'utf8')),
  )
  return { certificate: certificate!, key: key! }
}

/** Takes over what the files say each time they change. */
function follow(
  folder: string,
  first: WebhookKeyPair,
  {
    clock,
    log,
    signal,
    setKeyPair,
  }: WebhookListenerOptions & {
    readonly signal: AbortSignal
    readonly setKeyPair: (pair: WebhookKeyPair) => void
  },
): void {
  let present = first.certificate
  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(filePeriod, { signal })
      try {
        const pair = await readPair(folder)
        if (pair.certificate === present) continue
        setKeyPair(pair)
        present = pair.certificate
        log.info('took over a new certificate', { folder })
      } catch (error) {
        log.warn('the certificate cannot be read', { error, folder })
      }
    }
  }
  look().catch(() => {}) // the signal
}
