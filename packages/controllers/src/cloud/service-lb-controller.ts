import { Node, Service } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { ServiceView } from '@coxswain/kinds'
import {
  defineOperator,
  type Lookup,
  type Operator,
  type Predicate,
  type ReconcileContext,
} from '@coxswain/runtime'
import { createExponentialLimiter } from '@coxswain/workqueue'
import { fingerprintOf, isIncluded, loadBalancedNodes } from './load-balanced-nodes.ts'
import type { CloudProvider, LoadBalancers, LoadBalancerView } from './provider.ts'

const cleanup = 'service.kubernetes.io/load-balancer-cleanup'
const rateLimiter = () => createExponentialLimiter<string>({ base: 5_000, cap: 300_000 })
const maxNamesListed = 20

/** By key: the service when its load balancer was last ensured, and the nodes it was last updated with. */
type Known = Map<string, { readonly service: ServiceView; readonly nodes: string }>

/** Manages a cloud load balancer for every Service of type LoadBalancer. */
export function createServiceLbController({ loadBalancers }: CloudProvider): Operator {
  return defineOperator('service-lb-controller', operator => {
    if (!loadBalancers) return
    const known: Known = new Map()
    const options = { eventSource: 'service-controller', rateLimiter, resyncPeriod: 0 }
    operator
      .controller('service-lb')
      .for(Service, { predicates: [concernsBalancer] })
      .options(options)
      .reconcile(context => reconcile(context, loadBalancers, known))
    operator
      .controller('service-lb-nodes')
      .watches(Node, (_, lookup) => balancedServices(lookup), { predicates: [concernsNodes] })
      .options(options)
      .reconcile(context => updateNodes(context, loadBalancers, known))
  })
}

/** A service with a loadBalancerClass belongs to another controller. */
function wantsBalancer({ spec }: ServiceView): boolean {
  return spec?.type === 'LoadBalancer' && spec.loadBalancerClass === undefined
}

const hasCleanup = ({ metadata }: ServiceView) => metadata.finalizers?.includes(cleanup) ?? false

function needsCleanup(service: ServiceView): boolean {
  const isTerminating = service.metadata.deletionTimestamp !== undefined
  return hasCleanup(service) && (isTerminating || service.spec?.type !== 'LoadBalancer')
}

/** The fields that determine a load balancer: other changes of a service do not matter. */
function ingredients(service: ServiceView) {
  const { spec = {}, metadata } = service
  return [
    wantsBalancer(service),
    spec.loadBalancerSourceRanges,
    spec.ports,
    spec.sessionAffinity,
    spec.sessionAffinityConfig,
    spec.loadBalancerIP,
    spec.externalIPs,
    metadata.annotations,
    metadata.uid,
    spec.externalTrafficPolicy,
    spec.healthCheckNodePort,
    spec.ipFamilies?.length,
  ]
}

const concernsBalancer: Predicate<Service> = event => {
  const { object } = event
  if (event.type === 'delete') return true
  if (needsCleanup(object)) return true
  if (event.type !== 'update') return wantsBalancer(object)
  return (
    (wantsBalancer(event.old) || wantsBalancer(object)) &&
    !deepEqual(ingredients(event.old), ingredients(object))
  )
}

/** A taint does not change the nodes of load balancers: their connections are to be drained. */
const concernsNodes: Predicate<Node> = event =>
  event.type !== 'update' ||
  isIncluded(event.old) !== isIncluded(event.object) ||
  event.old.spec?.providerID !== event.object.spec?.providerID

function balancedServices(lookup: Lookup) {
  const services = lookup.list(Service).filter(wantsBalancer)
  return services.map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
}

const idOf = ({ key }: ReconcileContext) => `${key.namespace}/${key.name}`
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

async function reconcile(context: ReconcileContext, balancers: LoadBalancers, known: Known) {
  const { client, key, events } = context
  const service = await client.get(Service, key)
  const before = known.get(idOf(context))?.service
  if (before && before.metadata.uid !== service?.metadata.uid) {
    await removeForgotten(context, before, balancers)
    known.delete(idOf(context))
  }
  if (!service) return
  try {
    if (!wantsBalancer(service) || needsCleanup(service)) {
      await remove(context, service, balancers)
      known.delete(idOf(context))
    } else await ensure(context, service, balancers, known)
  } catch (error) {
    const message = `Error syncing load balancer: ${messageOf(error)}`
    events.warning(service, 'SyncLoadBalancerFailed', message)
    throw error
  }
}

/** Cleans up after a user removed the finalizer. */
async function removeForgotten(context: ReconcileContext, service: ServiceView, balancers: LoadBalancers) {
  const { events } = context
  events.normal(service, 'DeletingLoadBalancer', 'Deleting load balancer')
  try {
    await balancers.delete(service, context)
  } catch (error) {
    const message = `Error deleting load balancer: ${messageOf(error)}`
    events.warning(service, 'DeleteLoadBalancerFailed', message)
    throw error
  }
  events.normal(service, 'DeletedLoadBalancer', 'Deleted load balancer')
}

/** The finalizer is removed last, so that the deletion is resumed after a crash. */
async function remove(context: ReconcileContext, service: ServiceView, balancers: LoadBalancers) {
  const { client, key, events } = context
  const { uid, deletionTimestamp } = service.metadata
  if (await balancers.get(service, context)) {
    events.normal(service, 'DeletingLoadBalancer', 'Deleting load balancer')
    await balancers.delete(service, context)
  }
  if (!deletionTimestamp) await writeStatus(context, service, {})
  if (hasCleanup(service)) {
    const metadata = { uid, '$deleteFromPrimitiveList/finalizers': [cleanup] }
    await ignoreNotFound(client.patch(Service, key, { metadata }, { type: 'strategic' }))
  }
  events.normal(service, 'DeletedLoadBalancer', 'Deleted load balancer')
}

async function ensure(
  context: ReconcileContext,
  service: ServiceView,
  balancers: LoadBalancers,
  known: Known,
) {
  const { client, key, events } = context
  events.normal(service, 'EnsuringLoadBalancer', 'Ensuring load balancer')
  if (!hasCleanup(service)) {
    const metadata = { uid: service.metadata.uid, finalizers: [cleanup] }
    await client.patch(Service, key, { metadata }, { type: 'strategic' })
  }
  const { items } = await client.list(Node)
  const nodes = loadBalancedNodes(items)
  if (nodes.length === 0) reportNoNodes(context, service)
  known.set(idOf(context), { service, nodes: fingerprintOf(nodes) })
  const status = await balancers.ensure(service, nodes, context)
  events.normal(service, 'EnsuredLoadBalancer', 'Ensured load balancer')
  await writeStatus(context, service, status)
}

async function writeStatus(
  { client, key }: ReconcileContext,
  { metadata, status }: ServiceView,
  loadBalancer: LoadBalancerView,
) {
  if (deepEqual(status?.loadBalancer?.ingress ?? [], loadBalancer.ingress ?? [])) return
  const ingress = loadBalancer.ingress ?? null
  const patch = { metadata: { uid: metadata.uid }, status: { loadBalancer: { ingress } } }
  await ignoreNotFound(client.patch(Service, key, patch, { type: 'merge', subresource: 'status' }))
}

/** A service that is already deleted needs no update. */
async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function reportNoNodes({ events }: ReconcileContext, service: ServiceView): void {
  events.warning(service, 'UnAvailableLoadBalancer', 'There are no available nodes for LoadBalancer')
}

/** Only for services that were ensured before: the others get the nodes when they are. */
async function updateNodes(context: ReconcileContext, balancers: LoadBalancers, known: Known) {
  const { client, key, events } = context
  const service = await client.get(Service, key)
  const before = known.get(idOf(context))
  if (!service || before === undefined || !wantsBalancer(service) || needsCleanup(service)) return
  const { items } = await client.list(Node)
  const nodes = loadBalancedNodes(items)
  const present = fingerprintOf(nodes)
  if (present === before.nodes) return
  try {
    await balancers.update(service, nodes, context)
  } catch (error) {
    if (!(await balancers.get(service, context))) return
    const names = nodes.map(({ metadata }) => metadata.name)
    const listed =
      names.length > maxNamesListed
        ? [...names.slice(0, maxNamesListed), `<${names.length - maxNamesListed} more>`]
        : names
    events.warning(
      service,
      'UpdateLoadBalancerFailed',
      `Error updating load balancer with new hosts [${listed.join(' ')}] [node names limited, total number of nodes: ${names.length}], error: ${messageOf(error)}`,
    )
    throw error
  }
  known.set(idOf(context), { ...before, nodes: present })
  if (nodes.length === 0) reportNoNodes(context, service)
  else events.normal(service, 'UpdatedLoadBalancer', 'Updated load balancer with new hosts')
}
