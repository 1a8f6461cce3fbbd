import { formatKey, keyOf } from '@coxswain/apimachinery/wire-format'
import type { Env } from '@coxswain/kit'
import type { Client } from './client.ts'
import { conditions } from './conditions.ts'
import { createDiscovery } from './discovery.ts'
import { ClientError } from './errors.ts'
import type { DynamicInput, DynamicKind, DynamicObject } from './kind-for.ts'
import type { CallOptions } from './options.ts'
import { wait } from './wait.ts'

/** An object of a manifest file. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Options of {@link applyAll}. */
export interface ApplyAllOptions extends CallOptions {
  /** Who owns the applied fields in managedFields. */
  readonly fieldOwner: string
  /** Takes over fields that another manager owns. @default false */
  readonly force?: boolean
  /** The namespace of namespaced objects that name none. @default 'default' */
  readonly namespace?: string
  /**
   * Labels that every object gets. Objects of the same kinds, and of `kinds`, that have them and are not among the manifests are
   * deleted, in the namespaces of the manifests. @default nothing is deleted
   */
  readonly prune?: {
    readonly labels: Readonly<Record<string, string>>
    readonly kinds?: readonly DynamicKind[]
  }
}

/** The result of {@link applyAll}. */
export interface AppliedAll {
  readonly applied: readonly DynamicObject[]
  /** `ConfigMap default/old`. */
  readonly pruned: readonly string[]
}

/** Kinds that are applied first, since others need them. */
const order = ['Namespace', 'CustomResourceDefinition']

/**
 * Applies manifests server-side: namespaces and CustomResourceDefinitions first, the others in their order when the kinds of the
 * CRDs are served. Stops at the first failure, and then prunes nothing.
 */
export async function applyAll(
  { client, env }: { readonly client: Client; readonly env: Pick<Env, 'clock' | 'random'> },
  manifests: readonly Manifest[],
  options: ApplyAllOptions,
): Promise<AppliedAll> {
  const { fieldOwner, force = false, namespace = 'default', prune, ...call } = options
  if (prune && Object.keys(prune.labels).length === 0)
    throw new ClientError('BadOptions', 'prune needs labels: without any, every object would be deleted')
  const discovery = createDiscovery(client)
  const rank = ({ kind }: Manifest) => (order.includes(kind) ? order.indexOf(kind) : order.length)
  const sorted = manifests.toSorted((a, b) => rank(a) - rank(b))
  const applied: DynamicObject[] = []
  const kept = new Set<string>()
  const scopes = new Map<string, { readonly kind: DynamicKind; readonly namespace?: string }>()
  for (const manifest of sorted) {
    const kind = await discovery.kindOf(manifest.apiVersion, manifest.kind, call)
    const placed = place(manifest, { kind, namespace, labels: prune?.labels })
    const object = await client.apply(kind, placed, { ...call, fieldManager: fieldOwner, force })
    applied.push(object)
    kept.add(nameOf(kind, object))
    const scope = { kind, ...(object.metadata.namespace && { namespace: object.metadata.namespace }) }
    scopes.set(`${kind.resource}.${kind.group} ${scope.namespace}`, scope)
    if (manifest.kind === 'CustomResourceDefinition')
      await waitEstablished(client, env, { kind, object, call })
  }
  if (!prune) return { applied, pruned: [] }
  const namespaces = new Set([namespace, ...[...scopes.values()].flatMap(scope => scope.namespace ?? [])])
  for (const kind of prune.kinds ?? [])
    for (const each of kind.namespaced ? namespaces : [undefined])
      scopes.set(`${kind.resource}.${kind.group} ${each}`, {
        kind,
        ...(each !== undefined && { namespace: each }),
      })
  const labelSelector = Object.entries(prune.labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
  const pruned: string[] = []
  for (const { kind, ...scope } of scopes.values())
    for await (const object of client.listAll(kind, { ...call, ...scope, labelSelector })) {
      if (kept.has(nameOf(kind, object)) || object.metadata.deletionTimestamp) continue
      const preconditions = { uid: object.metadata.uid }
      await client.delete(kind, keyOf(object), { ...call, preconditions, propagationPolicy: 'Background' })
      pruned.push(`${kind.kind} ${formatKey(keyOf(object))}`)
    }
  return { applied, pruned }
}

function nameOf(kind: DynamicKind, object: DynamicObject): string {
  return `${kind.group} ${kind.kind} ${formatKey(keyOf(object))}`
}

interface Placement {
  readonly kind: DynamicKind
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>> | undefined
}

function place(manifest: Manifest, { kind, namespace, labels }: Placement): DynamicInput {
  const metadata = { ...manifest.metadata } as DynamicInput['metadata']
  if (kind.namespaced) metadata.namespace ??= namespace
  if (labels) metadata.labels = { ...metadata.labels, ...labels }
  return { ...manifest, metadata }
}

interface Definition {
  readonly kind: DynamicKind
  readonly object: DynamicObject
  readonly call: CallOptions
}

async function waitEstablished(
  client: Client,
  env: Pick<Env, 'clock' | 'random'>,
  { kind, object, call }: Definition,
): Promise<void> {
  const isEstablished = async (): Promise<boolean> =>
    conditions.isCrdEstablished(await client.get(kind, keyOf(object), call))
  const { signal } = call
  await wait.poll(env, isEstablished, { interval: 200, timeout: 30_000, ...(signal && { signal }) })
}
