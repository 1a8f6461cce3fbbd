import { PersistentVolumeClaim, Pod, ResourceQuota, Service } from '@coxswain/api/core/v1'
import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import {
  type Amounts,
  addAmounts,
  containerStatusesOf,
  isClaimInQuotaScope,
  isPodInQuotaScope,
  isPodTerminal,
  limitsClaims,
  limitsPods,
  limitsServices,
  type PodView,
  plainCountedResources,
  type QuotaScope,
  quotaScopesOf,
  quotaUsageOfClaim,
  quotaUsageOfPod,
  quotaUsageOfService,
} from '@coxswain/kinds'
import {
  defineOperator,
  type MapFunction,
  type Operator,
  type Predicate,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import type { ServesResource } from '../controller-names.ts'
import { ObjectCounts } from './object-counts.ts'

/** Milliseconds between two full recalculations. */
const resyncPeriod = 5 * 60_000
/** Milliseconds between two discoveries of a missing resource. */
const discoveryPeriod = 30_000

type QuotaView = DeepReadonly<ResourceQuota>

/** Recalculates the usage of quotas: admission increases it, this controller corrects it. */
export function createResourceQuotaController(serves: ServesResource = () => true): Operator {
  return defineOperator('resourcequota-controller', operator => {
    const counts = new ObjectCounts()
    operator.task('quota-counts', context => counts.run(context))
    const controller = operator
      .controller('resourcequota')
      // Admission updates the status with every created object: its numbers are then ahead of our caches.
      .for(ResourceQuota, { predicates: [hardChanged] })
    if (serves('pods')) controller.watches(Pod, quotasThat(limitsPods), { predicates: [podUsageChanged] })
    if (serves('services'))
      controller.watches(Service, quotasThat(limitsServices), { predicates: [serviceTypeChanged] })
    if (serves('persistentvolumeclaims'))
      controller.watches(PersistentVolumeClaim, quotasThat(limitsClaims), { predicates: [notCreated] })
    controller
      .channel(counts.changes)
      .options({ concurrency: 5, resyncPeriod })
      .reconcile(context => reconcile(context, counts, serves))
  })
}

const hardChanged: Predicate<ResourceQuota> = event => {
  if (event.type !== 'update' || event.isResync) return true
  const text = ({ spec }: DeepReadonly<ResourceQuota>) => JSON.stringify(spec)
  return text(event.old as QuotaView) !== text(event.object as QuotaView)
}

/** Admission has already counted new objects. Namespaces with many objects would be recalculated for each. */
const notCreated: Predicate = event => event.type !== 'create'

const podUsageChanged: Predicate<Pod> = event => {
  if (event.type !== 'update') return event.type === 'delete'
  const [old, pod] = [event.old as PodView, event.object as PodView]
  return (isPodTerminal(pod) && !isPodTerminal(old)) || countedOf(old) !== countedOf(pod)
}

/** The fields of a running pod that affect its usage and scopes. */
function countedOf(pod: PodView): string {
  const resources = containerStatusesOf(pod).flatMap(each => each.resources ?? [])
  return JSON.stringify([pod.spec.activeDeadlineSeconds !== undefined, resources])
}

const serviceTypeChanged: Predicate<Service> = event => {
  if (event.type !== 'update') return event.type === 'delete'
  const typeOf = ({ spec }: DeepReadonly<Service>) =>
    ['NodePort', 'LoadBalancer'].find(type => type === spec?.type)
  return typeOf(event.old as DeepReadonly<Service>) !== typeOf(event.object as DeepReadonly<Service>)
}

/** The quotas of an object's namespace that limit such objects. */
function quotasThat(counts: (name: string) => boolean): MapFunction {
  return ({ metadata: { namespace = '' } }, lookup) =>
    lookup
      .list(ResourceQuota, { namespace })
      .filter(({ spec }) => Object.keys(spec?.hard ?? {}).some(counts))
      .map(({ metadata: { name } }) => ({ namespace, name }))
}

async function reconcile(
  context: ReconcileContext,
  counts: ObjectCounts,
  serves: ServesResource,
): Promise<ReconcileResult> {
  const { client, key } = context
  const quota = await client.get(ResourceQuota, key)
  if (!quota || quota.metadata.deletionTimestamp) return
  const hard = quota.spec?.hard ?? {}
  const names = Object.keys(hard)
  const usage = await addUp(context, quota, { names, serves })
  let isComplete = true
  for (const name of names) {
    if (usage.has(name)) continue
    const resource = countedResource(name)
    const count = resource && (await counts.count(resource, key))
    if (count !== undefined) usage.set(name, Quantity.of(count))
    isComplete &&= resource === undefined || count !== undefined
  }
  const used: Record<string, string> = {}
  for (const name of names) {
    // A resource that cannot be counted keeps its number.
    const amount = usage.get(name)?.toString() ?? quota.status?.used?.[name]
    if (amount !== undefined) used[name] = amount
  }
  if (!isSame(hard, quota.status?.hard) || !isSame(used, quota.status?.used))
    await client.updateStatus(ResourceQuota, { ...quota, status: { hard, used } })
  return isComplete ? undefined : requeueAfter(discoveryPeriod)
}

/** The usage of pods, services and claims for these names: zero if there are none. */
async function addUp(
  context: ReconcileContext,
  quota: QuotaView,
  { names, serves }: { readonly names: readonly string[]; readonly serves: ServesResource },
): Promise<Map<string, Quantity>> {
  const now = context.clock.now()
  const scopes = quotaScopesOf(quota)
  const total = new Map<string, Quantity>()
  const add = async <K extends Kind>(
    kind: K,
    counts: (name: string) => boolean,
    isIn: (object: DeepReadonly<KindOf<K>>, scope: QuotaScope) => boolean,
    usageOf: (object: DeepReadonly<KindOf<K>>) => Amounts,
  ) => {
    const counted = names.filter(counts)
    if (counted.length === 0 || !serves(kind.resource)) return
    let sum: Amounts = new Map(counted.map(name => [name, Quantity.zero]))
    const { items } = await context.client.list(kind, { namespace: quota.metadata.namespace ?? '' })
    for (const object of items as readonly DeepReadonly<KindOf<K>>[])
      if (scopes.every(scope => isIn(object, scope))) sum = addAmounts(sum, usageOf(object))
    for (const name of counted) total.set(name, sum.get(name)!)
  }
  await add(Pod, limitsPods, isPodInQuotaScope, pod => quotaUsageOfPod(pod, now))
  await add(Service, limitsServices, () => false, quotaUsageOfService)
  await add(PersistentVolumeClaim, limitsClaims, isClaimInQuotaScope, quotaUsageOfClaim)
  return total
}

/** The resource whose objects a quota of this name counts; undefined for other names. */
function countedResource(name: string): { readonly group: string; readonly resource: string } | undefined {
  if (plainCountedResources.has(name)) return { group: '', resource: name }
  if (!name.startsWith('count/')) return undefined
  const [resource = '', ...group] = name.slice('count/'.length).split('.')
  return { group: group.join('.'), resource }
}

function isSame(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>> | undefined,
): boolean {
  const names = Object.keys(a)
  return (
    b !== undefined &&
    names.length === Object.keys(b).length &&
    names.every(name => b[name] !== undefined && parseQuantity(a[name]!).equals(parseQuantity(b[name])))
  )
}
