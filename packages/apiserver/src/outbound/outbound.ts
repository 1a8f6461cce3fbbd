import { type Transport, TransportError } from '@coxswain/wire'

/** A server that the API server calls: a webhook, a conversion webhook, an identity provider. */
export interface Target {
  /** Where to connect: `https://host:port`, without a path. */
  readonly origin: string
  /** PEM of those whose signature on the target's certificate counts. @default the platform's */
  readonly ca?: string
  /** The name to expect in the target's certificate, and to ask for. @default the host of the origin */
  readonly serverName?: string
  /** PEM: what the API server proves itself with. */
  readonly cert?: string
  readonly key?: string
  /** @default false */
  readonly insecure?: boolean
}

/**
 * The way out: how the API server reaches other servers. The command gives it sockets, a cluster in a test's own process
 * the handlers of the operators it runs.
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
