import { deepEqual } from '@coxswain/apimachinery/json'
import type { CustomResourceConversion, Kind } from '@coxswain/apimachinery/kinds'
import { isAlreadyExists, isConflict, isNotFound } from '@coxswain/apimachinery/status'
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
  type DefinitionConversion,
  definitionKind,
  fieldManager,
  mutatingKind,
  validatingKind,
  type WebhookClientConfig,
  type WebhookConfiguration,
  type WebhookEntry,
} from './kinds.ts'
import {
  isSameReplica,
  moveTo,
  type Replica,
  replicaAt,
  replicaOf,
  standbyAnnotation,
  standbyOf,
} from './replica.ts'

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
  /** Whether another replica still serves. @default it does not */
  readonly answers?: (replica: Replica, signal: AbortSignal) => Promise<boolean>
}

export interface InjectOptions {
  /** Takes over what leads to another replica that serves; otherwise this one stands by. */
  readonly takeOver: boolean
  readonly signal: AbortSignal
}

/** What is written of a conversion together with its definition. */
export interface InstalledConversion {
  readonly conversion: CustomResourceConversion
  /** Added to those of the definition. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Whether an object is to lead to this replica, and who is next. */
interface Claim {
  readonly isMine: boolean
  readonly standby: Replica | undefined
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
  async apply(input: ConfigurationInput, options: InjectOptions): Promise<string[]> {
    await this.#applyConfiguration(mutatingKind, mutatingWebhooks(input), input, options)
    await this.#applyConfiguration(validatingKind, validatingWebhooks(input), input, options)
    const missing: string[] = []
    for (const name of conversionsOf(input).keys()) {
      if (!(await this.#applyConversion(name, input, options))) missing.push(name)
    }
    return missing
  }

  /** The conversion of a definition that is about to be written, for the fields that are ours. */
  async conversionFor(
    name: string,
    existing: Definition | undefined,
    input: ConfigurationInput,
    signal: AbortSignal,
  ): Promise<InstalledConversion> {
    const conversion = conversionsOf(input).get(name)!
    if (!existing) return { conversion, annotations: {} }
    const present = existing.spec?.conversion?.webhook?.clientConfig
    const { standby } = await this.#claim(existing, [present ?? {}], input, { takeOver: true, signal })
    const { caBundle: _, ...untrusted } = conversion.webhook!.clientConfig!
    const clientConfig = isCertManaged(existing) ? untrusted : conversion.webhook!.clientConfig!
    return {
      conversion: { ...conversion, webhook: { ...conversion.webhook!, clientConfig } },
      annotations: standby ? { [standbyAnnotation]: JSON.stringify(standby) } : {},
    }
  }

  /**
   * Takes away the configurations that lead to this replica: nobody is to wait for a server that is gone. Where another
   * replica still serves, they and the conversions lead to that one instead.
   */
  async remove(input: ConfigurationInput, signal: AbortSignal): Promise<void> {
    const { client, name, install } = this.#options
    for (const kind of [mutatingKind, validatingKind]) {
      await this.#untilWritten(kind, name, async () => {
        const existing = await client.get(kind, { name }, { signal })
        if (!existing || !isOurs(existing) || !this.#isLedTo(existing.webhooks ?? [], input)) return
        const next = await this.#next(existing, input, signal)
        const { resourceVersion } = existing.metadata
        if (!next)
          return void (await client.delete(kind, { name }, { preconditions: { resourceVersion }, signal }))
        const webhooks = (existing.webhooks ?? []).map(webhook => ({
          ...webhook,
          clientConfig: moveTo(webhook.clientConfig, next),
        }))
        const metadata = withStandby(existing.metadata, undefined)
        await client.update(kind, { ...existing, metadata, webhooks }, { fieldManager, signal })
      })
    }
    if (!install) return
    for (const definition of conversionsOf(input).keys()) {
      await this.#untilWritten(definitionKind, definition, async () => {
        const existing = await client.get(definitionKind, { name: definition }, { signal })
        const clientConfig = existing?.spec?.conversion?.webhook?.clientConfig
        if (!existing || !clientConfig || !this.#isLedTo([{ clientConfig }], input)) return
        const next = await this.#next(existing, input, signal)
        if (next)
          await this.#patchConversion(
            existing,
            { webhook: { clientConfig: moveTo(clientConfig, next) } },
            undefined,
            signal,
          )
      })
    }
  }

  async #applyConfiguration(
    kind: typeof mutatingKind,
    webhooks: WebhookEntry[],
    input: ConfigurationInput,
    options: InjectOptions,
  ): Promise<void> {
    const { client, name, install } = this.#options
    const { signal } = options
    if (webhooks.length === 0) return
    await this.#untilWritten(kind, name, async () => {
      const existing = await client.get(kind, { name }, { signal })
      if (!existing) {
        const metadata = { name, labels: { ...ours } }
        if (install) await client.create(kind, { metadata, webhooks }, { fieldManager, signal })
        return
      }
      const present = existing.webhooks ?? []
      if (!isOurs(existing)) {
        const wanted = inject(existing, webhooks)
        if (deepEqual(wanted, present)) return
        await client.update(kind, { ...existing, webhooks: wanted }, { fieldManager, signal })
        return
      }
      const clientConfigs = present.map(({ clientConfig }) => clientConfig)
      const { isMine, standby } = await this.#claim(existing, clientConfigs, input, options)
      const wanted = isMine ? takeOver(existing, webhooks) : present
      const metadata = withStandby(existing.metadata, standby)
      if (deepEqual(wanted, present) && deepEqual(metadata, existing.metadata)) return
      await client.update(kind, { ...existing, metadata, webhooks: wanted }, { fieldManager, signal })
    })
  }

  async #applyConversion(name: string, input: ConfigurationInput, options: InjectOptions): Promise<boolean> {
    const { client, install } = this.#options
    const { signal } = options
    const conversion = conversionsOf(input).get(name) as DefinitionConversion
    let found = false
    await this.#untilWritten(definitionKind, name, async () => {
      const existing = await client.get(definitionKind, { name }, { signal })
      found = existing !== undefined
      if (!existing) return
      const present = existing.spec?.conversion
      const before = present?.webhook?.clientConfig
      const clientConfig = keepTrust(existing, conversion.webhook!.clientConfig!, before)
      if (!install) {
        const wanted = withTrust(present, clientConfig.caBundle)
        if (wanted && !deepEqual(wanted, present))
          await this.#patchConversion(existing, wanted, standbyOf(existing), signal)
        return
      }
      const { isMine, standby } = await this.#claim(existing, [before ?? {}], input, options)
      const wanted = isMine ? { ...conversion, webhook: { ...conversion.webhook!, clientConfig } } : present!
      if (deepEqual(wanted, present) && deepEqual(standby, standbyOf(existing))) return
      await this.#patchConversion(existing, wanted, standby, signal)
    })
    return found
  }

  async #patchConversion(
    { metadata: { name, resourceVersion } }: Definition,
    conversion: DefinitionConversion,
    standby: Replica | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const annotations = { [standbyAnnotation]: standby ? JSON.stringify(standby) : null }
    // A merge patch joins members: those of the address that was there before have to be taken out by name.
    const { url = null, service = null, caBundle = null } = conversion.webhook?.clientConfig ?? {}
    const webhook = conversion.webhook && { ...conversion.webhook, clientConfig: { url, service, caBundle } }
    const spec = { conversion: { ...conversion, ...(webhook && { webhook }) } }
    const patch = { metadata: { resourceVersion, annotations }, spec }
    await this.#options.client.patch(definitionKind, { name }, patch, { type: 'merge', fieldManager, signal })
  }

  /** Where an object leads to another replica, that one is asked whether it still serves. */
  async #claim(
    holder: Annotated,
    present: readonly WebhookClientConfig[],
    { address, caBundle }: ConfigurationInput,
    { takeOver: takesOver, signal }: InjectOptions,
  ): Promise<Claim> {
    const me = replicaAt(address, caBundle)
    const next = standbyOf(holder)
    const other = present.map(replicaOf).find(replica => replica && !isSameReplica(replica, me))
    if (!other || !(await this.#answers(other, signal)))
      return { isMine: true, standby: isSameReplica(next, me) ? undefined : next }
    if (takesOver) return { isMine: true, standby: other }
    const isTaken = next && !isSameReplica(next, me) && (await this.#answers(next, signal))
    return { isMine: false, standby: isTaken ? next : me }
  }

  #isLedTo(
    webhooks: readonly { clientConfig: WebhookClientConfig }[],
    { address, caBundle }: ConfigurationInput,
  ): boolean {
    const me = replicaAt(address, caBundle)
    return webhooks.every(({ clientConfig }) => isSameReplica(replicaOf(clientConfig), me))
  }

  /** The replica that takes over from this one, if it still serves. */
  async #next(
    holder: Annotated,
    { address, caBundle }: ConfigurationInput,
    signal: AbortSignal,
  ): Promise<Replica | undefined> {
    const next = standbyOf(holder)
    if (!next || isSameReplica(next, replicaAt(address, caBundle))) return undefined
    return (await this.#answers(next, signal)) ? next : undefined
  }

  async #answers(replica: Replica, signal: AbortSignal): Promise<boolean> {
    return (await this.#options.answers?.(replica, signal)) ?? false
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

/** With the annotation that names the replica that is next, or without it. */
function withStandby(
  metadata: WebhookConfiguration['metadata'],
  standby: Replica | undefined,
): WebhookConfiguration['metadata'] {
  const { [standbyAnnotation]: _, ...rest } = metadata.annotations ?? {}
  const annotations = standby ? { ...rest, [standbyAnnotation]: JSON.stringify(standby) } : rest
  return { ...metadata, ...((metadata.annotations || standby) && { annotations }) }
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
  present: DefinitionConversion | undefined,
  caBundle: string | undefined,
): DefinitionConversion | undefined {
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
