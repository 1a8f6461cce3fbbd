import type { ByteStream } from '@coxswain/wire'
import type { Dialer, DialTls } from '../dialer.ts'
import type { NodeConnection, PodAddress } from '../node-connection.ts'

/** The target of a proxy request. */
export interface Backend {
  /** `host:port`, as in URLs and error messages. */
  readonly host: string
  readonly scheme: 'http' | 'https'
  /** Opens a connection per request, TLS included. */
  dial(): Promise<ByteStream>
}

/** Certificates of Pods have names that the API server does not know: any is accepted, as upstream. */
const anyCertificate: DialTls = { insecure: true }

interface Place {
  readonly scheme: 'http' | 'https'
  readonly address: string
  readonly port: number
}

/** A port of a Pod on one of our own nodes. */
export function backendOnNode(
  nodes: NodeConnection,
  dialer: Dialer,
  pod: PodAddress,
  { scheme, address, port }: Place,
): Backend {
  return {
    host: hostPort(address, port),
    scheme,
    async dial() {
      const stream = await nodes.dial(pod, port)
      return scheme === 'https' ? await dialer.secure(stream, anyCertificate) : stream
    },
  }
}

/** A dialled address, which the caller has checked. */
export function backendAt(
  dialer: Dialer,
  { scheme, address, port }: Place,
  tls: DialTls = anyCertificate,
): Backend {
  return {
    host: hostPort(address, port),
    scheme,
    dial: () => (scheme === 'https' ? dialer.connect(address, port, tls) : dialer.connect(address, port)),
  }
}

export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
