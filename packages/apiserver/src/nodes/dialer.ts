import { type ByteStream, TransportError } from '@coxswain/wire'

/** TLS settings of a connection that the API server opens. */
export interface DialTls {
  /** PEM. @default the platform's */
  readonly ca?: string
  /** PEM. */
  readonly cert?: string
  readonly key?: string
  readonly serverName?: string
  /** Accepts any certificate. @default false */
  readonly insecure?: boolean
}

/** How the API server reaches addresses: Pods, and kubelets of foreign nodes. */
export interface Dialer {
  /** The addresses of a host name; an address resolves to itself. */
  lookup(host: string): Promise<readonly string[]>
  /** Rejects with a `TransportError` when the connection fails. */
  connect(host: string, port: number, tls?: DialTls): Promise<ByteStream>
  /** Starts TLS on an existing connection. */
  secure(stream: ByteStream, tls: DialTls): Promise<ByteStream>
}

function nowhere(place: string): Promise<never> {
  const message = `this server has no outbound network access: cannot reach ${place}`
  return Promise.reject(new TransportError('ConnectFailed', message, { sent: false }))
}

/** Rejects every connection. */
export const noDialer: Dialer = {
  lookup: host => nowhere(host),
  connect: (host, port) => nowhere(`${host}:${port}`),
  secure: () => nowhere('a TLS server'),
}
