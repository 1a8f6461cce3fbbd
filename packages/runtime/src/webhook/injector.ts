import { deepEqual } from '@coxswain/apimachinery/json'
import type { CustomResourceConversion, Kind } from '@coxswain/apimachinery/kinds'
import { isAlreadyExists, isConflict, isNotFound } from '@coxswain/apimachinery/status'
import type { Client } from '@coxswain/client'
import type { Logger } from '@coxswain/kit'
import {
  type ConfigurationInput,
  type ConfigurationReference,
  conversionsOf,
  mutatingWebhooks,
  validatingWebhooks,
} from './configurations.ts'
import {
  type CrdObject,
  crdKind,
  type DefinitionConversion,
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
import type { WebhookDefinition } from './webhook-builder.ts'

/** cert-manager injects the caBundle of objects with one of these; it is left alone. */
const certManagerAnnotations = [
  'cert-manager.io/inject-ca-from',
  'cert-manager.io/inject-ca-from-secret',
  'cert-manager.io/inject-apiserver-ca',
]

/** The label of configurations that this program created. */
const ours = { 'app.kubernetes.io/managed-by': 'coxswain' } as const

export interface InjectorOptions {
  readonly client: Client
  readonly log: Logger
  /** The name of the webhook configurations. */
  readonly name: string
  /**
   * Whether missing configurations are created, and then kept as the operator defines them. In those that another
   * manager applied, only the caBundle is written.
   */
  readonly install: boolean
  /** Whether another replica still serves. @default false */
  readonly answers?: (replica: Replica, signal: AbortSignal) => Promise<boolean>
}

export interface InjectOptions {
  /** Takes over from another replica that serves; otherwise this one is the standby. */
  readonly takeOver: boolean
  readonly signal: AbortSignal
}

/** The conversion that is written together with its CRD. */
export interface InstalledConversion {
  readonly conversion: CustomResourceConversion
  /** Added to those of the CRD. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Whether an object points to this replica, and which one is next. */
interface Claim {
  readonly isMine: boolean
  readonly standby: Replica | undefined
}

/** Writes webhook configurations and conversions, with their CA bundles. */
export class WebhookInjector {
  readonly #options: InjectorOptions

  constructor(options: InjectorOptions) {
    this.#options = options
  }

  /**
   * Updates configurations and CRDs; writes only what differs. Returns the names of the CRDs that
   * do not exist yet.
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

  /** The configurations that `apply` writes. */
  configurationsOf(definitions: readonly WebhookDefinition[]): ConfigurationReference[] {
    const { name } = this.#options
    const has = (part: 'defaulter' | 'validator') => definitions.some(definition => definition[part])
    return [
      ...(has('defaulter') ? [{ kind: 'MutatingWebhookConfiguration', name } as const] : []),
      ...(has('validator') ? [{ kind: 'ValidatingWebhookConfiguration', name } as const] : []),
    ]
  }

  /** The conversion of a CRD that is about to be written, and its annotations. */
  async conversionFor(
    name: string,
    existing: CrdObject | undefined,
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
   * Removes the configurations that point to this replica, so that no request waits for a stopped server. Where another
   * replica still serves, they and the conversions point to that one instead.
   */
  async remove(input: ConfigurationInput, signal: AbortSignal): Promise<void> {
    const { client, name, install } = this.#options
    for (const kind of [mutatingKind, validatingKind]) {
      await this.#untilWritten(kind, name, async () => {
        const existing = await client.get(kind, { name }, { signal })
        if (!existing || !isOurs(existing) || !this.#pointsHere(existing.webhooks ?? [], input)) return
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
      await this.#untilWritten(crdKind, definition, async () => {
        const existing = await client.get(crdKind, { name: definition }, { signal })
        const clientConfig = existing?.spec?.conversion?.webhook?.clientConfig
        if (!existing || !clientConfig || !this.#pointsHere([{ clientConfig }], input)) return
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
    await this.#untilWritten(crdKind, name, async () => {
      const existing = await client.get(crdKind, { name }, { signal })
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
    { metadata: { name, resourceVersion } }: CrdObject,
    conversion: DefinitionConversion,
    standby: Replica | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const annotations = { [standbyAnnotation]: standby ? JSON.stringify(standby) : null }
    // A merge patch merges members: those of the previous address have to be removed by name.
    const { url = null, service = null, caBundle = null } = conversion.webhook?.clientConfig ?? {}
    const webhook = conversion.webhook && { ...conversion.webhook, clientConfig: { url, service, caBundle } }
    const spec = { conversion: { ...conversion, ...(webhook && { webhook }) } }
    const patch = { metadata: { resourceVersion, annotations }, spec }
    await this.#options.client.patch(crdKind, { name }, patch, { type: 'merge', fieldManager, signal })
  }

  /** Where an object points to another replica, checks whether that one still serves. */
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

  #pointsHere(
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

  /** Retries writes that race with other replicas. */
  async #untilWritten(kind: Kind, name: string, write: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await write()
        return
      } catch (error) {
        const isRace = isConflict(error) || isAlreadyExists(error) || isNotFound(error)
        if (!isRace || tries === 4) throw error
        this.#options.log.debug('another client wrote it, retrying', { kind: kind.kind, name })
      }
    }
  }
}

/** Sets or removes the annotation that names the next replica. */
function withStandby(
  metadata: WebhookConfiguration['metadata'],
  standby: Replica | undefined,
): WebhookConfiguration['metadata'] {
  const { [standbyAnnotation]: _, ...rest } = metadata.annotations ?? {}
  const annotations = standby ? { ...rest, [standbyAnnotation]: JSON.stringify(standby) } : rest
  return { ...metadata, ...((metadata.annotations || standby) && { annotations }) }
}

/** Replaces the existing webhooks with ours, keeping caBundles that cert-manager manages. */
function takeOver(existing: WebhookConfiguration, webhooks: readonly WebhookEntry[]): WebhookEntry[] {
  return webhooks.map(webhook => {
    const before = existing.webhooks?.find(({ name }) => name === webhook.name)
    return { ...webhook, clientConfig: keepTrust(existing, webhook.clientConfig, before?.clientConfig) }
  })
}

/** The existing webhooks, with our caBundle where they point to us. */
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

/** The existing conversion, if it is a webhook, with our caBundle. */
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
