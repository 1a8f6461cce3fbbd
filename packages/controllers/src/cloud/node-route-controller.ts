import { Node } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { findStatusCondition } from '@coxswain/apimachinery/meta'
import { formatTime } from '@coxswain/apimachinery/time'
import { type CIDR, parseCIDR } from '@coxswain/apimachinery/validation'
import type { NodeView } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { overlap } from '../ip-range.ts'
import type { CloudProvider, Route, Routes } from './provider.ts'

/** Options of {@link createNodeRouteController}. */
export interface NodeRouteOptions {
  /** The ranges of all pods: routes to other addresses are left alone. */
  readonly clusterCIDRs: readonly CIDR[]
}

const syncPeriod = 10_000
/** All routes are reconciled together. */
const everything = { name: 'routes' }

/** Creates a route to every node's pod CIDR, and reports on nodes whether they have theirs. */
export function createNodeRouteController({ routes }: CloudProvider, options: NodeRouteOptions): Operator {
  return defineOperator('node-route-controller', operator => {
    if (!routes) return
    operator
      .controller('node-route')
      .watches(Node, () => [everything], {
        predicates: [event => event.type !== 'update' || concernsRoutes(event.old, event.object)],
      })
      .timer(syncPeriod, () => [everything])
      .options({ eventSource: 'route_controller' })
      .reconcile(context => reconcile(context, routes, options))
  })
}

function concernsRoutes(old: NodeView, node: NodeView): boolean {
  return (
    !deepEqual(old.spec?.podCIDRs, node.spec?.podCIDRs) ||
    !deepEqual(old.status?.addresses, node.status?.addresses)
  )
}

async function reconcile(
  context: ReconcileContext,
  routes: Routes,
  { clusterCIDRs }: NodeRouteOptions,
): Promise<void> {
  const present = await routes.list(context)
  const { items: nodes } = await context.client.list(Node)
  const isOurs = ({ destinationCIDR }: Route) => {
    const range = parseCIDR(destinationCIDR)
    return range !== undefined && clusterCIDRs.some(cluster => overlap(cluster, range))
  }
  for (const route of present.filter(isOurs)) {
    const node = nodes.find(({ metadata }) => metadata.name === route.targetNode)
    if (!route.isBlackhole && node && isRouteOf(route, node)) continue
    await routes.delete(route, context).catch(error => {
      context.log.warn('failed to delete a route', { route: route.name, error })
    })
  }
  for (const node of nodes) await createRoutes(context, node, routes, present)
}

/** Whether it is a route that a node should have. */
function isRouteOf(route: Route, { metadata, spec, status }: NodeView): boolean {
  const { targetNode, destinationCIDR, targetNodeAddresses: addresses } = route
  return (
    targetNode === metadata.name &&
    (spec?.podCIDRs ?? []).includes(destinationCIDR) &&
    (addresses === undefined || deepEqual(addresses, status?.addresses ?? []))
  )
}

async function createRoutes(
  context: ReconcileContext,
  node: NodeView,
  routes: Routes,
  present: readonly Route[],
): Promise<void> {
  const { name, uid } = node.metadata
  const ranges = node.spec?.podCIDRs ?? []
  const hadSome = present.some(({ targetNode }) => targetNode === name)
  if (ranges.length === 0 && !hadSome) return
  let hasAll = ranges.length > 0
  for (const destinationCIDR of ranges) {
    const isThere = present.some(
      route => !route.isBlackhole && route.destinationCIDR === destinationCIDR && isRouteOf(route, node),
    )
    if (isThere) continue
    const targetNodeAddresses = node.status?.addresses ?? []
    try {
      await routes.create({ name: uid, targetNode: name, destinationCIDR, targetNodeAddresses }, context)
    } catch (error) {
      hasAll = false
      const reason = error instanceof Error ? error.message : String(error)
      const message = `Could not create route ${uid} ${destinationCIDR} for node ${name}: ${reason}`
      context.events.warning(node, 'FailedToCreateRoute', message)
    }
  }
  await writeCondition(context, node, { hasRoutes: hasAll })
}

async function writeCondition(
  { client, clock }: ReconcileContext,
  node: NodeView,
  { hasRoutes }: { readonly hasRoutes: boolean },
): Promise<void> {
  const status = hasRoutes ? 'False' : 'True'
  const reason = hasRoutes ? 'RouteCreated' : 'NoRouteCreated'
  const type = 'NetworkUnavailable'
  const known = findStatusCondition(node.status?.conditions, type)
  if (known?.status === status && known.reason === reason) return
  const now = formatTime(clock.now())
  const message = hasRoutes ? 'RouteController created a route' : 'RouteController failed to create a route'
  const condition = { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now }
  const { name, uid } = node.metadata
  const patch = { metadata: { uid }, status: { conditions: [condition] } }
  await client.patch(Node, { name }, patch, { type: 'strategic', subresource: 'status' })
}
