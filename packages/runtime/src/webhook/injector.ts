import { deepEqual, isAlreadyExists, isConflict, isNotFound, type Kind } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import type { Logger } from '@coxswain/kit'
import {
  type ConfigurationInput,
  conversionsOf,
  mutatingWebhooks,
  validatingWebhooks,
} from './configurations.ts'
import {
  type Definition,
  definitionKind,
  mutatingKind,
  validatingKind,
  type WebhookClientConfig,
  type WebhookConfiguration,
  type WebhookEntry,
} from './kinds.ts'

/** Objects that carry it get their caBundle from cert-manager, and keep it. */
const certManagerAnnotations = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
]

/** What configurations are labelled with that we made. */
const ours = { 'app.kubernetes.io/managed-by': 'coxswain' } as const

export interface InjectorOptions {
  readonly client: Client
  readonly log: Logger
  /** Of the webhook configurations. */
  readonly name: string
  /**
   * Whether configurations are made where there are none, and then kept as the operator says. Of those that somebody else
   * applied only the caBundle is ours.
   */
  readonly install: boolean
}

/** Tells API servers of the webhooks, and whom to trust. */
export class WebhookInjector {
  readonly #options: InjectorOptions

  constructor(options: InjectorOptions) {
    this.#options = options
  }

  /**
   * Brings configurations and definitions up to date; writes only what differs. Gives the names of the definitions that
   * are not there yet.
   */
  async apply(input: ConfigurationInput): Promise<string[]> {
    await this.#applyConfiguration(mutatingKind, mutatingWebhooks(input))
    await this.#applyConfiguration(validatingKind, validatingWebhooks(input))
    const missing: string[] = []
    for (const [name, conversion] of conversionsOf(input)) {
      if (!(await this.#applyConversion(name, conversion as NonNullable<Definition['spec']>['conversion'])))
        missing.push(name)
    }
    return missing
  }

  /** Takes away the configurations that we made: nobody is to wait for a server that is gone. */
  async remove(): Promise<void> {
    const { client, name } = this.#options
    for (const kind of [mutatingKind, validatingKind]) {
      const existing = await client.get(kind, { name })
      if (existing && isOurs(existing)) await client.delete(kind, { name })
    }
  }

  async #applyConfiguration(kind: typeof mutatingKind, webhooks: WebhookEntry[]): Promise<void> {
    const { client, name, install } = this.#options
    if (webhooks.length === 0) return
    await this.#untilWritten(kind, name, async () => {
      const existing = await client.get(kind, { name })
      if (!existing) {
        if (install) await client.create(kind, { metadata: { name, labels: { ...ours } }, webhooks })
        return
      }
      const wanted = isOurs(existing) ? takeOver(existing, webhooks) : inject(existing, webhooks)
      if (deepEqual(wanted, existing.webhooks)) return
      await client.update(kind, { ...existing, webhooks: wanted })
    })
  }

  async #applyConversion(
    name: string,
    conversion: NonNullable<Definition['spec']>['conversion'],
  ): Promise<boolean> {
    const { client, install } = this.#options
    let found = false
    await this.#untilWritten(definitionKind, name, async () => {
      const existing = await client.get(definitionKind, { name })
      found = existing !== undefined
      if (!existing) return
      const present = existing.spec?.conversion
      const clientConfig = keepTrust(
        existing,
        conversion!.webhook!.clientConfig!,
        present?.webhook?.clientConfig,
      )
      const wanted = install
        ? { ...conversion!, webhook: { ...conversion!.webhook!, clientConfig } }
        : withTrust(present, clientConfig.caBundle)
      if (!wanted || deepEqual(wanted, present)) return
      const { resourceVersion } = existing.metadata
      await client.patch(
        definitionKind,
        { name },
        { metadata: { resourceVersion }, spec: { conversion: wanted } },
        { type: 'merge' },
      )
    })
    return found
  }

  /** Others write too: whoever loses looks again. */
  async #untilWritten(kind: Kind, name: string, write: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await write()
        return
      } catch (error) {
        const isRace = isConflict(error) || isAlreadyExists(error) || isNotFound(error)
        if (!isRace || tries === 4) throw error
        this.#options.log.debug('somebody else wrote it, looking again', { kind: kind.kind, name })
      }
    }
  }
}

/** Our webhooks in place of those there are, with cert-manager's caBundles where they are its business. */
function takeOver(existing: WebhookConfiguration, webhooks: readonly WebhookEntry[]): WebhookEntry[] {
  return webhooks.map(webhook => {
    const before = existing.webhooks?.find(({ name }) => name === webhook.name)
    return { ...webhook, clientConfig: keepTrust(existing, webhook.clientConfig, before?.clientConfig) }
  })
}

/** The webhooks there are, with our caBundle where they lead to us. */
function inject(existing: WebhookConfiguration, webhooks: readonly WebhookEntry[]): WebhookEntry[] {
  const paths = new Map(webhooks.map(({ clientConfig }) => [pathOf(clientConfig), clientConfig]))
  return (existing.webhooks ?? []).map(webhook => {
    const { caBundle } = paths.get(pathOf(webhook.clientConfig)) ?? {}
    if (caBundle === undefined || isCertManaged(existing)) return webhook
    return { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }
  })
}

type Annotated = { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }

function keepTrust(
  holder: Annotated,
  wanted: WebhookClientConfig,
  present: WebhookClientConfig | undefined,
): WebhookClientConfig {
  if (!isCertManaged(holder)) return wanted
  const { caBundle: _, ...rest } = wanted
  return present?.caBundle === undefined ? rest : { ...rest, caBundle: present.caBundle }
}

/** The conversion there is, if it is one by webhook, with our caBundle. */
function withTrust(
  present: NonNullable<Definition['spec']>['conversion'],
  caBundle: string | undefined,
): NonNullable<Definition['spec']>['conversion'] {
  if (present?.strategy !== 'Webhook' || caBundle === undefined) return undefined
  const { clientConfig = {} } = present.webhook ?? {}
  return { ...present, webhook: { ...present.webhook, clientConfig: { ...clientConfig, caBundle } } }
}

function isOurs({ metadata }: WebhookConfiguration): boolean {
  return Object.entries(ours).every(([name, value]) => metadata.labels?.[name] === value)
}

function isCertManaged({ metadata }: Annotated): boolean {
  return certManagerAnnotations.some(name => metadata.annotations?.[name] !== undefined)
}

function pathOf({ url, service }: WebhookClientConfig): string {
  if (service) return service.path ?? ''
  try {
    return new URL(url ?? '').pathname
  } catch {
    return ''
  }
}
