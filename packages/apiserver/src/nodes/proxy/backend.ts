import type { ByteStream } from '@coxswain/wire'
import type { Dialer, DialTls } from '../dialer.ts'
import type { NodeConnection, PodAddress } from '../node-connection.ts'

/** The target of a proxy request. */
export interface Backend {
  /** `host:port`, as URLs and error texts have it. */
  readonly host: string
  readonly scheme: 'http' | 'https'
  /** A connection of its own for each request, TLS included. */
  dial(): Promise<ByteStream>
}

/** Certificates of Pods are for names that the API server does not know: any will do, as upstream has it. */
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

/** An address that others answer at; the caller has judged it. */
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
