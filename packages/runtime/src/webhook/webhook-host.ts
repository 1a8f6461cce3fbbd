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
import {
  type CertificateMaker,
  type CertificateMaterial,
  CertificateRotation,
  type WebhookKeyPair,
} from './certificates.ts'
import {
  type ConfigurationInput,
  type ConfigurationReference,
  conversionsOf,
  type WebhookAddress,
} from './configurations.ts'
import { type InstalledConversion, WebhookInjector } from './injector.ts'
import type { CrdObject } from './kinds.ts'
import type { Replica } from './replica.ts'
import type { WebhookDefinition } from './webhook-builder.ts'

/** How API servers reach the webhooks of an operator: by sockets, or by a call in the same process. */
export interface WebhookListener {
  /** The hosts of the certificates. */
  readonly hosts: readonly string[]
  /**
   * Starts to serve and resolves with the address; it stops when `signal` aborts. `keyPair` is set when
   * certificates are created here.
   */
  listen(handler: Handler, signal: AbortSignal, keyPair?: WebhookKeyPair): Promise<WebhookAddress>
  /** Uses this certificate for new connections. */
  setKeyPair?(keyPair: WebhookKeyPair): void
  /** Whether another process of this operator serves there. @default false */
  answers?(replica: Replica, signal: AbortSignal): Promise<boolean>
}

/** How the webhooks of an operator are hosted. */
export interface WebhookOptions {
  readonly listener: WebhookListener
  /** Creates certificates. @default certificates come from elsewhere, or are not needed */
  readonly certificates?: CertificateMaker
  /** Where replicas share their certificates. @default in memory */
  readonly secret?: ObjectKey
  /** The name of the webhook configurations of a single operator. @default that of the operator */
  readonly name?: string
  /** What precedes that name. @default '' */
  readonly namePrefix?: string
  /** Whether missing configurations are created; in others only the caBundle is written. @default true */
  readonly install?: boolean
  /**
   * Removes the configurations that point here when it stops, or hands them to another process that still serves: for a
   * laptop that goes to sleep. A function is called when it stops. @default false
   */
  readonly removeOnStop?: boolean | (() => boolean)
  /** Certificates of the process that this one replaces. @default new ones */
  readonly initialCertificates?: CertificateMaterial
  /** Called when the configurations are written, and when the certificates have changed. */
  readonly onServing?: (serving: ServingWebhooks) => void
}

/** What the process that replaces this one needs so that the configurations need not be written again. */
export interface ServingWebhooks {
  readonly address: WebhookAddress
  /** Undefined when certificates come from elsewhere. */
  readonly certificates?: CertificateMaterial
  readonly configurations: readonly ConfigurationReference[]
}

/** How often certificates and configurations are checked. */
const checkPeriod = 60_000
/** The timeout of the removal of the configurations. */
const removeLimit = 3_000

export interface HostedWebhooks {
  /** By operator name: each has its own webhook configurations. */
  readonly definitions: ReadonlyMap<string, readonly WebhookDefinition[]>
  /** What certificates are named after. */
  readonly name: string
  readonly handler: Handler
  readonly client: Client
  readonly env: Env
}

/** What the configurations of every operator have in common. */
type Where = Omit<ConfigurationInput, 'definitions'>

/** One operator's share. */
interface Share {
  readonly injector: WebhookInjector
  readonly definitions: readonly WebhookDefinition[]
}

/**
 * Runs the webhooks of the operators of a manager: certificates, then the listener, then the configurations that point to it; and maintains
 * all three until it has to stop.
 */
export class WebhookHost {
  readonly #options: WebhookOptions
  readonly #hosted: HostedWebhooks
  readonly #shares: readonly Share[]
  readonly #rotation: CertificateRotation | undefined
  readonly #backoff: Backoff
  /** Set once it listens. */
  #address: WebhookAddress | undefined
  /** Aborts when the configurations no longer point here: requests are served until then. */
  readonly #serving = new AbortController()
  /** The certificate that new connections get. */
  #shown: string | undefined
  /** The address and CA bundle that were last written. */
  #written: Where | undefined
  #hasTakenOver = false
  /** What `onServing` was last called with. */
  #announced: ServingWebhooks | undefined
  /** Resolves when all configurations are written. */
  readonly #ready = Promise.withResolvers<void>()
  /** Resolves after the first try, however it ended. */
  readonly #tried = Promise.withResolvers<void>()
  #isReady = false

  constructor(options: WebhookOptions, hosted: HostedWebhooks) {
    const { client, definitions } = hosted
    const { install = true, namePrefix = '', listener } = options
    const answers = listener.answers?.bind(listener)
    const env = { ...hosted.env, log: hosted.env.log.child({ webhooks: options.name ?? hosted.name }) }
    this.#options = options
    this.#hosted = { ...hosted, env }
    this.#shares = [...definitions].map(([operator, own]) => {
      const name = `${namePrefix}${definitions.size === 1 ? (options.name ?? operator) : operator}`
      const { log } = env
      return {
        injector: new WebhookInjector({ client, log, name, install, ...(answers && { answers }) }),
        definitions: own,
      }
    })
    this.#rotation = createRotation(options, this.#hosted)
    this.#backoff = createBackoff({ ...env, initial: 500, cap: checkPeriod, resetAfter: 2 * checkPeriod })
  }

  /** Whether all configurations are written. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves when `isReady` is true for the first time. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves after the first attempt to write the configurations, or when it has stopped. */
  get tried(): Promise<void> {
    return this.#tried.promise
  }

  /** Resolves when it has stopped. Failed requests are retried. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#hosted.env
    while (!signal.aborted) {
      let wait = checkPeriod
      try {
        const isComplete = await this.#update(signal)
        if (!isComplete) wait = this.#backoff.next()
      } catch (error) {
        if (signal.aborted) break
        wait = this.#backoff.next()
        if (!isReported(error)) log.warn('webhooks are not set up, will retry', { error })
      }
      this.#tried.resolve()
      await clock.sleep(wait, { signal }).catch(() => {})
    }
    this.#tried.resolve()
    const { removeOnStop = false } = this.#options
    if (typeof removeOnStop === 'function' ? removeOnStop() : removeOnStop) await this.#remove()
    this.#serving.abort(signal.reason)
  }

  /** The conversion of a CRD that is about to be written; requests are served before it resolves. */
  async conversionFor(
    name: string,
    existing: CrdObject | undefined,
    signal: AbortSignal,
  ): Promise<InstalledConversion> {
    const where = await this.#listen(signal)
    const inputs = this.#shares.map(({ injector, definitions }) => ({ injector, ...where, definitions }))
    const { injector, ...input } = inputs.find(each => conversionsOf(each).has(name))!
    return await injector.conversionFor(name, existing, input, signal)
  }

  /** Certificates, then the listener: the address and CA bundle to write. */
  async #listen(signal: AbortSignal): Promise<Where> {
    const { listener } = this.#options
    const { handler } = this.#hosted
    const certificates = await this.#rotation?.ensure(signal)
    signal.throwIfAborted()
    const server = certificates?.server
    if (!this.#address) this.#address = await listener.listen(handler, this.#serving.signal, server)
    else if (server && server.certificate !== this.#shown) listener.setKeyPair?.(server)
    this.#shown = server?.certificate
    return {
      address: this.#address,
      ...(certificates && { caBundle: encodeBase64Text(certificates.caBundle) }),
    }
  }

  /** Updates everything; false when a CRD does not exist yet. */
  async #update(signal: AbortSignal): Promise<boolean> {
    const { log } = this.#hosted.env
    const where = await this.#listen(signal)
    this.#written = where
    const options = { takeOver: !this.#hasTakenOver, signal }
    const missing: string[] = []
    for (const { injector, definitions } of this.#shares)
      for (const name of await injector.apply({ ...where, definitions }, options)) missing.push(name)
    this.#hasTakenOver = true
    this.#announceServing(where)
    if (missing.length > 0) log.debug('CRDs do not exist yet', { missing })
    this.#isReady = missing.length === 0
    if (this.#isReady) this.#ready.resolve()
    return this.#isReady
  }

  #announceServing({ address }: Where): void {
    const { onServing } = this.#options
    const certificates = this.#rotation?.material
    if (!onServing || (this.#announced && this.#announced.certificates === certificates)) return
    const configurations = this.#shares.flatMap(({ injector, definitions }) =>
      injector.configurationsOf(definitions),
    )
    this.#announced = { address, configurations, ...(certificates && { certificates }) }
    onServing(this.#announced)
  }

  async #remove(): Promise<void> {
    if (!this.#written) return
    const { clock, log } = this.#hosted.env
    const limit = new AbortController()
    const timer = clock.after(removeLimit, () => limit.abort(createAbortError('the removal timed out')))
    try {
      for (const { injector, definitions } of this.#shares)
        await injector.remove({ ...this.#written, definitions }, limit.signal)
    } catch (error) {
      log.warn('webhook configurations were left behind', { error })
    } finally {
      timer.cancel()
    }
  }
}

function createRotation(
  { certificates: maker, initialCertificates: initial, listener, secret }: WebhookOptions,
  { client, env, name }: HostedWebhooks,
): CertificateRotation | undefined {
  if (!maker) return undefined
  const { clock, log } = env
  return new CertificateRotation({
    maker,
    clock,
    log,
    hosts: listener.hosts,
    name: `${name}-webhooks`,
    ...(initial && { initial }),
    ...(secret && { secret: { client, key: secret } }),
  })
}
