import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { isMethodNotSupported, isNotFound } from '@coxswain/apimachinery/status'
import { type Client, metadataOf } from '@coxswain/client'
import type { Served, ServedKind } from '../resource-kinds.ts'
import type { Outcome } from './conditions.ts'

/** The remaining objects of one resource. */
interface Rest {
  readonly count: number
  readonly finalizers: readonly string[]
  readonly failure?: string
}

/**
 * Deletes everything in a namespace and reports what remains. Pods are deleted first, and nothing else while any exists, since
 * they may need the rest.
 */
export async function emptyNamespace(client: Client, namespace: string, served: Served): Promise<Outcome> {
  const remaining = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures: string[] = []
  const isPods = ({ kind }: ServedKind) => kind.group === '' && kind.resource === 'pods'
  const deletable = served.resources.filter(isDeletable)
  const empty = async (resource: ServedKind): Promise<void> => {
    const rest = await emptyResource(client, namespace, resource)
    if (rest.failure !== undefined) failures.push(rest.failure)
    if (rest.count > 0) remaining.set(`${resource.kind.resource}.${resource.kind.group}`, rest.count)
    for (const name of rest.finalizers) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
  }
  for (const resource of deletable.filter(isPods)) await empty(resource)
  if (remaining.size === 0) for (const resource of deletable) if (!isPods(resource)) await empty(resource)
  return { discoveryFailure: describeFailures(served.failures), failures, remaining, finalizers }
}

function isDeletable({ kind, verbs }: ServedKind): boolean {
  return kind.namespaced && verbs.includes('list') && verbs.includes('delete')
}

async function emptyResource(client: Client, namespace: string, resource: ServedKind): Promise<Rest> {
  const { kind, verbs } = resource
  const metadata = metadataOf(kind)
  const propagationPolicy = 'Background'
  try {
    const before = await client.list(metadata, { namespace })
    if (before.items.length === 0) return { count: 0, finalizers: [] }
    const isAsked = before.items.every(item => item.metadata.deletionTimestamp !== undefined)
    if (isAsked) return restOf(before.items, resource, namespace)
    if (verbs.includes('deletecollection')) await client.deleteAll(metadata, { namespace, propagationPolicy })
    else {
      for (const { metadata: each } of before.items)
        await client.delete(metadata, { namespace, name: each.name }, { propagationPolicy })
    }
    return restOf((await client.list(metadata, { namespace })).items, resource, namespace)
  } catch (error) {
    if (isNotFound(error) || isMethodNotSupported(error)) return { count: 0, finalizers: [] }
    return { count: 0, finalizers: [], failure: (error as Error).message }
  }
}

function restOf(
  items: readonly { readonly metadata: ObjectMeta }[],
  { kind }: ServedKind,
  namespace: string,
): Rest {
  const finalizers = items.flatMap(item => item.metadata.finalizers ?? [])
  const isExplained =
    finalizers.length > 0 || items.every(item => item.metadata.deletionGracePeriodSeconds !== undefined)
  if (isExplained) return { count: items.length, finalizers }
  const address = `${kind.group}/${kind.version}, Resource=${kind.resource}`
  const failure = `unexpected items still remain in namespace: ${namespace} for gvr: ${address}`
  return { count: items.length, finalizers, failure }
}

/** In client-go's words. */
function describeFailures(failures: ReadonlyMap<string, Error>): string | undefined {
  if (failures.size === 0) return undefined
  const each = [...failures].map(([name, { message }]) => `${name}: ${message}`).sort()
  return `Discovery failed for some groups, ${failures.size} failing: unable to retrieve the complete list of server APIs: ${each.join(', ')}`
}
