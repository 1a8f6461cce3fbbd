import { Node, Pod, Service } from '@coxswain/api/core/v1'
import { type Endpoint, type EndpointPort, EndpointSlice } from '@coxswain/api/discovery/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { formatKey, parseKey } from '@coxswain/apimachinery/meta'
import {
  type IPFamily,
  ipFamiliesOf,
  isHeadless,
  type NodeView,
  type PodView,
  type ServiceView,
} from '@coxswain/kinds'
import {
  defineOperator,
  type MapFunction,
  type Operator,
  type Predicate,
  type ReconcileContext,
} from '@coxswain/runtime'
import { endpointOf, portsOn } from './endpoints-of-service.ts'
import {
  endpointChanged,
  hasEndpoint,
  headlessLabel,
  listPodsOfService,
  selectsPods,
  servicesOfPod,
} from './service-pods.ts'
import { type EndpointGroup, planSlices, portsKey, type SliceView } from './slice-plan.ts'
import { shareZones, TopologyHints, topologyOf, wantsTopologyHints } from './topology-hints.ts'
import { TriggerTimes, triggerTimeAnnotation } from './trigger-times.ts'
import { deleteSlice, isSliceOf, managedByLabel, serviceNameLabel, writeSlices } from './write-slices.ts'

const manager = 'endpointslice-controller.k8s.io'

/** Options of {@link createEndpointSliceController}. */
export interface EndpointSliceOptions {
  /** The maximum number of endpoints in a slice. @default 100 */
  readonly maxEndpointsPerSlice?: number
}

/** Manages the EndpointSlices of every Service with a selector. */
export function createEndpointSliceController(options: EndpointSliceOptions = {}): Operator {
  const { maxEndpointsPerSlice: max = 100 } = options
  return defineOperator('endpointslice-controller', operator => {
    const triggerTimes = new TriggerTimes()
    const topologyHints = new TopologyHints()
    operator.index(EndpointSlice, serviceField, byService)
    operator
      .controller('endpointslice')
      .for(Service)
      .watches(Pod, servicesOfPod, { predicates: [endpointChanged] })
      .watches(EndpointSlice, serviceOfSlice)
      .watches(Node, (_, lookup) => topologyHints.overloaded(shareZones(lookup.list(Node))).map(parseKey), {
        predicates: [topologyChanged],
      })
      .options({ eventSource: 'endpoint-slice-controller', concurrency: 5 })
      .reconcile(context => reconcile(context, { triggerTimes, topologyHints, max }))
  })
}

const serviceField = 'endpointslice-controller'

const byService = ({ metadata }: SliceView): string[] => {
  const { [managedByLabel]: managedBy, [serviceNameLabel]: service } = metadata.labels ?? {}
  return managedBy === manager && service ? [`${metadata.namespace}/${service}`] : []
}

const serviceOfSlice: MapFunction<EndpointSlice> = slice =>
  byService(slice).map(() => ({
    namespace: slice.metadata.namespace ?? '',
    name: slice.metadata.labels![serviceNameLabel]!,
  }))

/** Updates of nodes that change their zone or capacity. */
const topologyChanged: Predicate<Node> = event =>
  event.type !== 'update' || topologyOf(event.old as NodeView) !== topologyOf(event.object as NodeView)

/** State between reconciliations, and how slices are packed. */
interface Memory {
  readonly triggerTimes: TriggerTimes
  readonly topologyHints: TopologyHints
  readonly max: number
}

async function reconcile(context: ReconcileContext, memory: Memory): Promise<void> {
  const { triggerTimes, topologyHints, max } = memory
  const { client, key, events } = context
  const service = await client.get(Service, key)
  if (!service) return triggerTimes.forget(formatKey(key))
  if (!selectsPods(service)) return
  const pods = await listPodsOfService(client, service)
  const listed = await client.list(EndpointSlice, { fields: { [serviceField]: formatKey(key) } })
  const slices = listed.items.filter(({ metadata }) => !metadata.deletionTimestamp)
  const triggerTime = triggerTimes.next(service, pods)
  const types = ipFamiliesOf(service)
  const labels = labelsFor(service)
  const annotate = (before: Readonly<Record<string, string>> = {}) => {
    const { [triggerTimeAnnotation]: _, ...others } = before
    return { ...others, ...(triggerTime && { [triggerTimeAnnotation]: triggerTime }) }
  }
  const isStale = (slice: SliceView) => !deepEqual(slice.metadata.labels ?? {}, labels)
  let failure: string | undefined
  try {
    for (const addressType of types) {
      const groups = await groupEndpoints(context, service, pods, addressType)
      failure ??= groups.failure
      const mine = slices.filter(slice => slice.addressType === addressType)
      const owned = mine.filter(slice => isSliceOf(slice, Service, service))
      const ignoresHints = wantsTopologyHints(service)
      const packed = planSlices(owned, groups.groups, { max, isStale, placeholder: true, ignoresHints })
      const { plan, event } = ignoresHints
        ? topologyHints.add(service, addressType, packed, shareZones((await client.list(Node)).items))
        : { plan: packed, event: topologyHints.remove(service, addressType) }
      const template = { ownerKind: Service, owner: service, addressType, labels, annotate }
      await writeSlices(client, plan, template)
      if (event) events[event.type](service, event.reason, event.message)
      for (const slice of mine) if (!owned.includes(slice)) await deleteSlice(client, slice)
    }
    for (const slice of slices)
      if (!types.some(type => type === slice.addressType)) await deleteSlice(client, slice)
    if (failure !== undefined) throw new Error(failure)
  } catch (error) {
    const { namespace, name } = service.metadata
    const message = `Error updating Endpoint Slices for Service ${namespace}/${name}: ${(error as Error).message}`
    events.warning(service, 'FailedToUpdateEndpointSlices', message)
    throw error
  }
}

/** Groups the endpoints of one address type by ports. */
async function groupEndpoints(
  { client }: ReconcileContext,
  service: ServiceView,
  pods: readonly PodView[],
  type: IPFamily,
): Promise<{ readonly groups: readonly EndpointGroup[]; readonly failure?: string }> {
  const groups = new Map<string, { readonly ports: EndpointPort[]; readonly endpoints: Endpoint[] }>()
  let failure: string | undefined
  for (const pod of pods) {
    if (!hasEndpoint(pod)) continue
    const { nodeName = '' } = pod.spec
    const node = nodeName === '' ? undefined : await client.get(Node, { name: nodeName })
    if (!node && !service.spec?.publishNotReadyAddresses) {
      const { namespace, name } = service.metadata
      failure ??= `skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`
      continue
    }
    const endpoint = endpointOf(service, pod, node, type)
    if (!endpoint) continue
    const ports = portsOn(service, pod)
    const key = portsKey(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    group.endpoints.push(endpoint)
    groups.set(key, group)
  }
  return { groups: [...groups.values()], ...(failure !== undefined && { failure }) }
}

/** The service's labels, without those that are reserved on slices. */
function labelsFor(service: ServiceView): Record<string, string> {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {}
  return {
    ...labels,
    ...(isHeadless(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: manager,
  }
}
