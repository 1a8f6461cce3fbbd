import {
  type EndpointPort as CoreEndpointPort,
  type EndpointAddress,
  type EndpointSubset,
  Endpoints,
  Service,
} from '@coxswain/api/core/v1'
import { type Endpoint, type EndpointPort, EndpointSlice } from '@coxswain/api/discovery/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { type DeepReadonly, formatKey } from '@coxswain/apimachinery/meta'
import { formatIP, parseIP } from '@coxswain/apimachinery/validation'
import { type IPFamily, ipFamilyOf } from '@coxswain/kinds'
import { defineOperator, type MapFunction, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { type EndpointGroup, planSlices, portsKey, type SliceView } from '../endpoint-slice/slice-plan.ts'
import { triggerTimeAnnotation } from '../endpoint-slice/trigger-times.ts'
import {
  deleteSlice,
  isSliceOf,
  managedByLabel,
  serviceNameLabel,
  writeSlices,
} from '../endpoint-slice/write-slices.ts'
import { packSubsets } from '../endpoints/subsets.ts'

const manager = 'endpointslicemirroring-controller.k8s.io'
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The mirrored addresses of one subset. */
const maxPerSubset = 1_000
const types: readonly IPFamily[] = ['IPv4', 'IPv6']

type EndpointsView = DeepReadonly<Endpoints>

/** Mirrors Endpoints that users manage, of Services without a selector, to EndpointSlices. */
export function createEndpointSliceMirroringController(): Operator {
  return defineOperator('endpointslice-mirroring-controller', operator => {
    operator.index(EndpointSlice, mirrorField, byEndpoints)
    operator
      .controller('endpointslice-mirroring')
      .for(Endpoints)
      .watches(Service, ({ metadata }) => [{ namespace: metadata.namespace ?? '', name: metadata.name }])
      .watches(EndpointSlice, endpointsOfSlice)
      .options({ eventSource: 'endpoint-slice-mirroring-controller', concurrency: 5 })
      .reconcile(reconcile)
  })
}

const mirrorField = 'endpointslice-mirroring-controller'

const byEndpoints = ({ metadata }: SliceView): string[] => {
  const { [managedByLabel]: managedBy, [serviceNameLabel]: service } = metadata.labels ?? {}
  return managedBy === manager && service ? [`${metadata.namespace}/${service}`] : []
}

const endpointsOfSlice: MapFunction<EndpointSlice> = slice =>
  byEndpoints(slice).map(() => ({
    namespace: slice.metadata.namespace ?? '',
    name: slice.metadata.labels![serviceNameLabel]!,
  }))

async function reconcile(context: ReconcileContext): Promise<void> {
  const { client, key } = context
  const endpoints = await client.get(Endpoints, key)
  const service = await client.get(Service, key)
  const { items } = await client.list(EndpointSlice, { fields: { [mirrorField]: formatKey(key) } })
  const slices = items.filter(({ metadata }) => !metadata.deletionTimestamp)
  const hasSelector = Object.keys(service?.spec?.selector ?? {}).length > 0
  if (!endpoints || !service || hasSelector || !isMirrored(endpoints)) {
    for (const slice of slices) await deleteSlice(client, slice)
    return
  }
  const groups = groupAddresses(context, endpoints)
  const labels = { ...endpoints.metadata.labels, [serviceNameLabel]: key.name, [managedByLabel]: manager }
  const {
    [triggerTimeAnnotation]: _time,
    [lastAppliedAnnotation]: _applied,
    ...copied
  } = endpoints.metadata.annotations ?? {}
  const isStale = (slice: SliceView) =>
    !deepEqual(slice.metadata.labels ?? {}, labels) ||
    !deepEqual(slice.metadata.annotations ?? {}, copied) ||
    !isSliceOf(slice, Endpoints, endpoints)
  const template = { ownerKind: Endpoints, owner: endpoints, labels, annotate: () => copied, rebuilds: true }
  for (const addressType of types) {
    const mine = slices.filter(slice => slice.addressType === addressType)
    const plan = planSlices(mine, groups[addressType], { max: maxPerSubset, isStale })
    await writeSlices(client, plan, { ...template, addressType })
  }
}

function isMirrored({ metadata }: EndpointsView): boolean {
  return metadata.labels?.[skipLabel] !== 'true' && metadata.annotations?.[leaderAnnotation] === undefined
}

function groupAddresses(
  { events }: ReconcileContext,
  endpoints: EndpointsView,
): Record<IPFamily, EndpointGroup[]> {
  const groups: Record<IPFamily, Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>> = {
    IPv4: new Map(),
    IPv6: new Map(),
  }
  let invalid = 0
  let skipped = 0
  for (const subset of repack(endpoints.subsets ?? [])) {
    const ports = portsOf(subset)
    const all = [
      ...(subset.addresses ?? []).map(address => ({ address, ready: true })),
      ...(subset.notReadyAddresses ?? []).map(address => ({ address, ready: false })),
    ]
    let added = 0
    for (const { address, ready } of all) {
      if (added === maxPerSubset) break
      const parsed = parseIP(address.ip)
      if (!parsed) {
        invalid++
        continue
      }
      added++
      const ip = formatIP(parsed.bytes)
      const type = ipFamilyOf(ip)
      const key = portsKey(ports)
      const group = groups[type].get(key) ?? { ports, endpoints: [] }
      group.endpoints.push(endpointOf({ ...address, ip }, ready))
      groups[type].set(key, group)
    }
    skipped += all.length - added
  }
  if (invalid > 0)
    events.warning(
      endpoints,
      'InvalidIPAddress',
      `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`,
    )
  if (skipped > invalid)
    events.warning(
      endpoints,
      'TooManyAddressesToMirror',
      `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
    )
  return { IPv4: [...groups.IPv4.values()], IPv6: [...groups.IPv6.values()] }
}

/** In canonical form. */
function repack(subsets: readonly DeepReadonly<EndpointSubset>[]): EndpointSubset[] {
  const entries = subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    (ports.length > 0 ? ports : [undefined]).flatMap(port => {
      const on = (ready: 'ready' | 'not ready') => (address: DeepReadonly<EndpointAddress>) => ({
        address: address as EndpointAddress,
        ...(port && { port: port as CoreEndpointPort }),
        ready: ready === 'ready',
      })
      return [...addresses.map(on('ready')), ...notReadyAddresses.map(on('not ready'))]
    }),
  )
  return packSubsets(entries)
}

function portsOf({ ports = [] }: DeepReadonly<EndpointSubset>): EndpointPort[] {
  return ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol && { appProtocol }),
  })) as EndpointPort[]
}

function endpointOf(address: DeepReadonly<EndpointAddress>, ready: boolean): Endpoint {
  const { ip, hostname, nodeName, targetRef } = address
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  }
}
