import type { ObjectKey } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import { type Backoff, createBackoff, type Env, isAbort } from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { encodeText } from './base64.ts'
import { type CertificateMaker, CertificateRotation, type WebhookKeyPair } from './certificates.ts'
import type { WebhookAddress } from './configurations.ts'
import { WebhookInjector } from './injector.ts'
import type { WebhookDefinition } from './webhook-builder.ts'

/** What a host does so that API servers reach the webhooks of an operator: sockets, or a call in the same process. */
export interface WebhookListener {
  /** Names and addresses that certificates have to be for. */
  readonly hosts: readonly string[]
  /**
   * Begins to answer requests and resolves with how to reach it; it ends when `signal` aborts. `keyPair` is there when
   * certificates are made here.
   */
  listen(handler: Handler, signal: AbortSignal, keyPair?: WebhookKeyPair): Promise<WebhookAddress>
  /** From now on new connections get this certificate. */
  setKeyPair?(keyPair: WebhookKeyPair): void
}

/** How the webhooks of an operator are hosted. */
export interface WebhookOptions {
  readonly listener: WebhookListener
  /** Makes certificates. @default none are made: they come from elsewhere, or are not needed */
  readonly certificates?: CertificateMaker
  /** Where replicas share their certificates. @default in memory */
  readonly secret?: ObjectKey
  /** The name of the webhook configurations. @default that of the operator */
  readonly name?: string
  /** Whether configurations are made where there are none; of others only the caBundle is touched. @default true */
  readonly install?: boolean
  /** Takes the configurations away when it stops: for a laptop that goes to sleep. @default false */
  readonly removeOnStop?: boolean
}

/** How often certificates and configurations are looked at. */
const lookPeriod = 60_000

export interface HostedWebhooks {
  readonly definitions: readonly WebhookDefinition[]
  readonly operator: string
  readonly handler: Handler
  readonly client: Client
  readonly env: Env
}

/**
 * Runs the webhooks of an operator: certificates, then the listener, then the configurations that lead to it; and looks
 * after all three until it has to stop.
 */
export class WebhookHost {
  readonly #options: WebhookOptions
  readonly #hosted: HostedWebhooks
  readonly #injector: WebhookInjector
  readonly #rotation: CertificateRotation | undefined
  readonly #backoff: Backoff
  /** Set once it listens. */
  #address: WebhookAddress | undefined
  /** The certificate that new connections get. */
  #shown: string | undefined
  #isReady = false

  constructor(options: WebhookOptions, hosted: HostedWebhooks) {
    const { client, operator } = hosted
    const { name = operator, install = true } = options
    const env = { ...hosted.env, log: hosted.env.log.child({ webhooks: name }) }
    this.#options = options
    this.#hosted = { ...hosted, env }
    this.#injector = new WebhookInjector({ client, log: env.log, name, install })
    this.#rotation = createRotation(options, this.#hosted)
    this.#backoff = createBackoff({ ...env, initial: 500, cap: lookPeriod, resetAfter: 2 * lookPeriod })
  }

  /** Whether API servers have been told of everything. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when it has stopped. What goes wrong with the API server is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#hosted.env
    // Requests are answered until nobody is sent here any more.
    const serving = new AbortController()
    while (!signal.aborted) {
      let wait = lookPeriod
      try {
        const isComplete = await this.#look(signal, serving.signal)
        if (!isComplete) wait = this.#backoff.next()
      } catch (error) {
        if (isAbort(error, signal)) break
        wait = this.#backoff.next()
        log.warn('webhooks are not set up, will try again', { error })
      }
      await clock.sleep(wait, { signal }).catch(() => {})
    }
    if (this.#options.removeOnStop) await this.#remove()
    serving.abort(signal.reason)
  }

  /** Brings everything up to date; false when a definition is not there yet. */
  async #look(signal: AbortSignal, serving: AbortSignal): Promise<boolean> {
    const { listener } = this.#options
    const { definitions, env, handler } = this.#hosted
    const certificates = await this.#rotation?.ensure()
    signal.throwIfAborted()
    const server = certificates?.server
    if (!this.#address) this.#address = await listener.listen(handler, serving, server)
    else if (server && server.certificate !== this.#shown) listener.setKeyPair?.(server)
    this.#shown = server?.certificate
    const missing = await this.#injector.apply({
      definitions,
      address: this.#address,
      ...(certificates && { caBundle: encodeText(certificates.caBundle) }),
    })
    if (missing.length > 0) env.log.debug('definitions are not there yet', { missing })
    this.#isReady = missing.length === 0
    return this.#isReady
  }

  async #remove(): Promise<void> {
    try {
      await this.#injector.remove()
    } catch (error) {
      this.#hosted.env.log.warn('webhook configurations were left behind', { error })
    }
  }
}

function createRotation(
  { certificates: maker, listener, secret }: WebhookOptions,
  { client, env, operator }: HostedWebhooks,
): CertificateRotation | undefined {
  if (!maker) return undefined
  const { clock, log } = env
  return new CertificateRotation({
    maker,
    clock,
    log,
    hosts: listener.hosts,
    name: `${operator}-webhooks`,
    ...(secret && { secret: { client, key: secret } }),
  })
}
