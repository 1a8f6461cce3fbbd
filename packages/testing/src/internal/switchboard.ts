import type { Outbound } from '@coxswain/apiserver'
import type { Env } from '@coxswain/kit'
import type { WebhookListener } from '@coxswain/runtime'
import { createInProcessTransport, type Handler, TransportError } from '@coxswain/wire'

/** The way from the API server to the webhooks of the operators that run beside it, without sockets. */
export class Switchboard implements Outbound {
  readonly #env: Env
  /** By origin. */
  readonly #handlers = new Map<string, Handler>()

  constructor(env: Env) {
    this.#env = env
  }

  readonly connect: Outbound['connect'] = ({ origin }) => ({
    send: request => {
      // Looked up for each request: operators come and go, and the server keeps its connections.
      const handler = this.#handlers.get(origin)
      if (handler) return createInProcessTransport(handler, this.#env).send(request)
      return Promise.reject(
        new TransportError('ConnectFailed', `nothing listens at ${origin}`, { sent: false }),
      )
    },
    async [Symbol.asyncDispose]() {},
  })

  /** Where the API server finds the webhooks of an operator. */
  addressOf(operator: string): { readonly url: string } {
    return { url: `https://${operator.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.webhooks.test` }
  }

  /** Makes them answer there, through `wrap` where it is given. */
  listenerFor(operator: string, wrap: (handler: Handler) => Handler = handler => handler): WebhookListener {
    const { url } = this.addressOf(operator)
    return {
      hosts: [],
      listen: async (inner, signal) => {
        const handler = wrap(inner)
        this.#handlers.set(url, handler)
        signal.addEventListener('abort', () => {
          // Another replica may have taken over.
          if (this.#handlers.get(url) === handler) this.#handlers.delete(url)
        })
        return { url }
      },
    }
  }
}
