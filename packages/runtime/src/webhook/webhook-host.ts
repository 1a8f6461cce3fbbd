import type { ObjectKey } from '@coxswain/apimachinery/meta'
import type { Client } from '@coxswain/client'
import {
  type Backoff,
  createAbortError,
  createBackoff,
  type Env,
  encodeBase64Text,
  isReported,
} from '@coxswain/kit'
import type { Handler } from '@coxswain/wire'
import { type CertificateMaker, CertificateRotation, type WebhookKeyPair } from './certificates.ts'
import type { ConfigurationInput, WebhookAddress } from './configurations.ts'
import { type InstalledConversion, WebhookInjector } from './injector.ts'
import type { Definition } from './kinds.ts'
import type { Replica } from './replica.ts'
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
  /** Whether another process of this operator serves there. @default nobody does */
  answers?(replica: Replica, signal: AbortSignal): Promise<boolean>
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
  /**
   * Takes the configurations that lead here away when it stops, or hands them to another process that still serves: for a
   * laptop that goes to sleep. @default false
   */
  readonly removeOnStop?: boolean
}

/** How often certificates and configurations are looked at. */
const lookPeriod = 60_000
/** How long the configurations may take to be taken away. */
const removeLimit = 3_000

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
  /** Requests are answered until nobody is sent here any more. */
  readonly #serving = new AbortController()
  /** The certificate that new connections get. */
  #shown: string | undefined
  /** What API servers were told last. */
  #told: ConfigurationInput | undefined
  #hasTakenOver = false
  /** Resolves when API servers have been told of everything. */
  readonly #ready = Promise.withResolvers<void>()
  /** Resolves after the first try, however it ended. */
  readonly #tried = Promise.withResolvers<void>()
  #isReady = false

  constructor(options: WebhookOptions, hosted: HostedWebhooks) {
    const { client, operator } = hosted
    const { name = operator, install = true, listener } = options
    const answers = listener.answers?.bind(listener)
    const env = { ...hosted.env, log: hosted.env.log.child({ webhooks: name }) }
    this.#options = options
    this.#hosted = { ...hosted, env }
    this.#injector = new WebhookInjector({
      client,
      log: env.log,
      name,
      install,
      ...(answers && { answers }),
    })
    this.#rotation = createRotation(options, this.#hosted)
    this.#backoff = createBackoff({ ...env, initial: 500, cap: lookPeriod, resetAfter: 2 * lookPeriod })
  }

  /** Whether API servers have been told of everything. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when `isReady` is true for the first time. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when it has tried once to tell API servers of the webhooks, or has stopped. */
  get tried(): Promise<void> {
    return this.#tried.promise
  }

  /** Resolves when it has stopped. What goes wrong with the API server is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#hosted.env
    while (!signal.aborted) {
      let wait = lookPeriod
      try {
        const isComplete = await this.#look(signal)
        if (!isComplete) wait = this.#backoff.next()
      } catch (error) {
        if (signal.aborted) break
        wait = this.#backoff.next()
        if (!isReported(error)) log.warn('webhooks are not set up, will try again', { error })
      }
      this.#tried.resolve()
      await clock.sleep(wait, { signal }).catch(() => {})
    }
    this.#tried.resolve()
    if (this.#options.removeOnStop) await this.#remove()
    this.#serving.abort(signal.reason)
  }

  /** The conversion of a definition that is about to be written; requests are answered before it resolves. */
  async conversionFor(
    name: string,
    existing: Definition | undefined,
    signal: AbortSignal,
  ): Promise<InstalledConversion> {
    const input = await this.#listen(signal)
    return await this.#injector.conversionFor(name, existing, input, signal)
  }

  /** Certificates, then the listener: what API servers have to be told. */
  async #listen(signal: AbortSignal): Promise<ConfigurationInput> {
    const { listener } = this.#options
    const { definitions, handler } = this.#hosted
    const certificates = await this.#rotation?.ensure(signal)
    signal.throwIfAborted()
    const server = certificates?.server
    if (!this.#address) this.#address = await listener.listen(handler, this.#serving.signal, server)
    else if (server && server.certificate !== this.#shown) listener.setKeyPair?.(server)
    this.#shown = server?.certificate
    return {
      definitions,
      address: this.#address,
      ...(certificates && { caBundle: encodeBase64Text(certificates.caBundle) }),
    }
  }

  /** Brings everything up to date; false when a definition is not there yet. */
  async #look(signal: AbortSignal): Promise<boolean> {
    const { log } = this.#hosted.env
    const input = await this.#listen(signal)
    this.#told = input
    const missing = await this.#injector.apply(input, { takeOver: !this.#hasTakenOver, signal })
    this.#hasTakenOver = true
    if (missing.length > 0) log.debug('definitions are not there yet', { missing })
    this.#isReady = missing.length === 0
    if (this.#isReady) this.#ready.resolve()
    return this.#isReady
  }

  async #remove(): Promise<void> {
    if (!this.#told) return
    const { clock, log } = this.#hosted.env
    const limit = new AbortController()
    const timer = clock.after(removeLimit, () => limit.abort(createAbortError('it takes too long')))
    try {
      await this.#injector.remove(this.#told, limit.signal)
    } catch (error) {
      log.warn('webhook configurations were left behind', { error })
    } finally {
      timer.cancel()
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
