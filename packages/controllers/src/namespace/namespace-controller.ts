import { Namespace } from '@coxswain/api/core/v1'
import { type DeepReadonly, formatTime, isMethodNotSupported, isNotFound } from '@coxswain/apimachinery'
import { type Client, metadataOf } from '@coxswain/client'
import { defineOperator, type Operator, requeueAfter } from '@coxswain/runtime'
import { ResourceKinds, type ServedKind } from '../resource-kinds.ts'

/** How long content that does not go at once is given before it is looked at again. */
const recheck = 1_000

const ownFinalizer = 'kubernetes'

/** What is left in a namespace that is being emptied. */
interface Remainder {
  /** Objects by `resource.group`. */
  readonly objects: ReadonlyMap<string, number>
  /** Objects by the finalizer that holds them. */
  readonly finalizers: ReadonlyMap<string, number>
  readonly failures: readonly string[]
}

/** Empties namespaces that are being deleted, whatever the server serves, then lets them go. */
export function createNamespaceController(): Operator {
  return defineOperator('namespace-controller', operator => {
    operator
      .controller('namespace')
      .for(Namespace)
      .options({ concurrency: 5 })
      .reconcile(async ({ key, client, clock }) => {
        const namespace = await client.get(Namespace, key)
        if (!namespace?.metadata.deletionTimestamp) return
        if (!namespace.spec?.finalizers?.includes(ownFinalizer)) return
        const { direct } = client
        const resources = await new ResourceKinds(direct).refresh()
        const remainder = await emptyNamespace(direct, key.name, resources.filter(isDeletable))
        const isEmpty = remainder.objects.size === 0 && remainder.failures.length === 0
        await writeConditions(direct, key.name, remainder, formatTime(clock.now()))
        if (!isEmpty) return requeueAfter(recheck)
        await finalize(direct, namespace)
        return
      })
  })
}

function isDeletable({ kind, verbs }: ServedKind): boolean {
  return kind.namespaced && verbs.includes('list') && verbs.includes('delete')
}

/** Deletes everything in the namespace and says what is still there. */
async function emptyNamespace(
  client: Client,
  namespace: string,
  resources: readonly ServedKind[],
): Promise<Remainder> {
  const objects = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures: string[] = []
  for (const { kind, verbs } of resources) {
    const metadata = metadataOf(kind)
    const name = kind.group === '' ? kind.resource : `${kind.resource}.${kind.group}`
    try {
      const before = await client.list(metadata, { namespace })
      if (before.items.length === 0) continue
      if (verbs.includes('deletecollection')) await client.deleteAll(metadata, { namespace })
      else
        for (const item of before.items)
          await client.delete(metadata, { namespace, name: item.metadata.name })
      const after = await client.list(metadata, { namespace })
      if (after.items.length > 0) objects.set(name, after.items.length)
      for (const finalizer of after.items.flatMap(item => item.metadata.finalizers ?? [])) {
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
      }
    } catch (error) {
      if (isNotFound(error) || isMethodNotSupported(error)) continue
      failures.push(`${name}: ${(error as Error).message}`)
    }
  }
  return { objects, finalizers, failures }
}

async function writeConditions(
  client: Client,
  name: string,
  remainder: Remainder,
  now: string,
): Promise<void> {
  const namespace = await client.get(Namespace, { name })
  if (!namespace) return
  const { objects, finalizers, failures } = remainder
  const conditions = [
    condition('NamespaceDeletionContentFailure', failures.length > 0, {
      good: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
      bad: [
        'ContentDeletionFailed',
        `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
      ],
    }),
    condition('NamespaceContentRemaining', objects.size > 0, {
      good: ['ContentRemoved', 'All content successfully removed'],
      bad: [
        'SomeResourcesRemain',
        `Some resources are remaining: ${describe(objects, 'has', 'resource instances')}`,
      ],
    }),
    condition('NamespaceFinalizersRemaining', finalizers.size > 0, {
      good: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
      bad: [
        'SomeFinalizersRemain',
        `Some content in the namespace has finalizers remaining: ${describe(finalizers, 'in', 'resource instances')}`,
      ],
    }),
  ]
  const before = namespace.status?.conditions ?? []
  const merged = conditions.map(next => {
    const old = before.find(({ type }) => type === next.type)
    return {
      ...next,
      lastTransitionTime: old?.status === next.status ? (old.lastTransitionTime ?? now) : now,
    }
  })
  if (JSON.stringify(merged) === JSON.stringify(before)) return
  await client.updateStatus(Namespace, { ...namespace, status: { ...namespace.status, conditions: merged } })
}

function condition(
  type: string,
  isBad: boolean,
  texts: { readonly good: readonly [string, string]; readonly bad: readonly [string, string] },
) {
  const [reason, message] = isBad ? texts.bad : texts.good
  return { type, status: isBad ? ('True' as const) : ('False' as const), reason, message }
}

function describe(counts: ReadonlyMap<string, number>, verb: string, what: string): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${verb} ${count} ${what}`)
    .join(', ')
}

async function finalize(client: Client, namespace: DeepReadonly<Namespace>): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter(finalizer => finalizer !== ownFinalizer)
  const key = { name: namespace.metadata.name }
  try {
    await client
      .subresource(Namespace, key, 'finalize')
      .update({ ...namespace, spec: { ...namespace.spec, finalizers } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
