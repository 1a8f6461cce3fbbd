import { type Transport, TransportError } from '@coxswain/wire'

/** A server that the API server calls: an admission or conversion webhook, or an identity provider. */
export interface Target {
  /** Where to connect: `https://host:port`, without a path. */
  readonly origin: string
  /** PEM of the CAs that the target's certificate is verified with. @default the platform's */
  readonly ca?: string
  /** The server name for TLS. @default the host of the origin */
  readonly serverName?: string
  /** PEM: the API server's client certificate. */
  readonly cert?: string
  readonly key?: string
  /** @default false */
  readonly insecure?: boolean
}

/**
 * Outbound connections: how the API server reaches other servers. The command provides sockets, an in-process test cluster
 * the handlers of its operators.
 */
export interface Outbound {
  /** A connection to `target`, which the caller disposes of. Opens nothing before the first request. */
  connect(target: Target): Transport
}

/** Rejects every request with a `TransportError`. */
export const noOutbound: Outbound = {
  connect: ({ origin }) => ({
    send: () =>
      Promise.reject(
        new TransportError(
          'ConnectFailed',
          `this server has no outbound network access: cannot reach ${origin}`,
          {
            sent: false,
          },
        ),
      ),
    async [Symbol.asyncDispose]() {},
  }),
}
