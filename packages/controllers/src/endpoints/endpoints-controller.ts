import { type EndpointPort, Endpoints, Pod, Service } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { type DeepReadonly, formatKey } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { ipFamilyOf, isHeadless, isPodReady, type PodView, podIPsOf, type ServiceView } from '@coxswain/kinds'
import { defineOperator, type ObjectEvent, type Operator, type ReconcileContext } from '@coxswain/runtime'
import {
  endpointChanged,
  findPort,
  hasEndpoint,
  headlessLabel,
  hostnameFor,
  listPodsOfService,
  selectsPods,
  servicesOfPod,
} from '../endpoint-slice/service-pods.ts'
import { TriggerTimes, triggerTimeAnnotation } from '../endpoint-slice/trigger-times.ts'
import { isNamespaceTerminating } from '../pods/pod-control.ts'
import { type AddressOnPort, capacity, countAddresses, packSubsets, truncateSubsets } from './subsets.ts'

const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const manager = 'endpoint-controller'
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity'
/** Set on Endpoints that deprecated clients use for leader election. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'

/** Manages the Endpoints of every Service with a selector. */
export function createEndpointsController(): Operator {
  return defineOperator('endpoints-controller', operator => {
    const triggerTimes = new TriggerTimes()
    operator
      .controller('endpoints')
      .for(Service)
      .watches(Pod, servicesOfPod, { predicates: [endpointChanged] })
      .watches(Endpoints, ({ metadata }) => [{ namespace: metadata.namespace ?? '', name: metadata.name }], {
        // Endpoints that a user creates or edits are unchanged until the service or its pods change. Those whose service was
        // deleted while the controller was down are found at startup, except leader election records, which never had a service.
        predicates: [event => event.type === 'delete' || (event.type === 'create' && isLeftover(event))],
      })
      .options({ eventSource: 'endpoint-controller', concurrency: 5 })
      .reconcile(context => reconcile(context, triggerTimes))
  })
}

async function reconcile(
  { client, key, events }: ReconcileContext,
  triggerTimes: TriggerTimes,
): Promise<void> {
  const service = await client.get(Service, key)
  const current = await client.get(Endpoints, key)
  if (!service) {
    triggerTimes.forget(formatKey(key))
    if (!current) return
    try {
      await client.delete(Endpoints, key, { preconditions: { uid: current.metadata.uid } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return
  }
  if (!selectsPods(service)) return
  const pods = await listPodsOfService(client, service)
  const triggerTime = triggerTimes.next(service, pods)
  const whole = packSubsets(pods.flatMap(pod => addressesOn(service, pod)))
  const subsets = truncateSubsets(whole)
  const isOver = countAddresses(whole) > capacity
  const labels = labelsFor(service)
  const metadata = current?.metadata
  const isMarked = metadata?.annotations?.[overCapacityAnnotation] === 'truncated'
  if (
    metadata &&
    deepEqual(current.subsets ?? [], subsets) &&
    deepEqual(metadata.labels ?? {}, labels) &&
    isOver === isMarked
  )
    return
  const { [triggerTimeAnnotation]: _, [overCapacityAnnotation]: __, ...others } = metadata?.annotations ?? {}
  const annotations = {
    ...others,
    ...(triggerTime && { [triggerTimeAnnotation]: triggerTime }),
    ...(isOver && { [overCapacityAnnotation]: 'truncated' }),
  }
  try {
    if (current)
      await client.update(Endpoints, {
        ...current,
        metadata: { ...current.metadata, labels, annotations },
        subsets,
      })
    else await client.create(Endpoints, { metadata: { ...key, labels, annotations }, subsets })
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    const { message } = error as Error
    const name = formatKey(key)
    if (current)
      events.warning(current, 'FailedToUpdateEndpoint', `Failed to update endpoint ${name}: ${message}`)
    else
      events.warning(
        service,
        'FailedToCreateEndpoint',
        `Failed to create endpoint for service ${name}: ${message}`,
      )
    throw error
  }
}

function isLeftover({ object, isInInitialList }: ObjectEvent & { readonly type: 'create' }): boolean {
  return isInInitialList && object.metadata.annotations?.[leaderAnnotation] === undefined
}

function labelsFor(service: ServiceView): Record<string, string> {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {}
  return { ...labels, ...(isHeadless(service) && { [headlessLabel]: '' }), [managedByLabel]: manager }
}

/** A pod's address on each port of a service, or without a port for a headless one without ports. */
function addressesOn(service: ServiceView, pod: PodView): AddressOnPort[] {
  const { publishNotReadyAddresses = false, ports = [] } = service.spec ?? {}
  if (!hasEndpoint(pod) || (pod.metadata.deletionTimestamp && !publishNotReadyAddresses)) return []
  const ip = addressFor(service, pod)
  if (ip === undefined) return []
  const { namespace, name, uid } = pod.metadata
  const hostname = hostnameFor(service, pod)
  const address = {
    ip,
    ...(hostname !== undefined && { hostname }),
    ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: { kind: 'Pod', ...(namespace !== undefined && { namespace }), name, uid },
  }
  const ready = publishNotReadyAddresses || isPodReady(pod)
  if (ports.length === 0) return isHeadless(service) ? [{ address, ready }] : []
  return ports.flatMap(servicePort => {
    const port = findPort(pod, servicePort)
    return port === undefined ? [] : [{ address, ready, port: endpointPort(servicePort, port) }]
  })
}

function endpointPort(
  {
    name,
    protocol = 'TCP',
    appProtocol,
  }: DeepReadonly<NonNullable<NonNullable<Service['spec']>['ports']>[number]>,
  port: number,
): EndpointPort {
  return { ...(name && { name }), port, protocol, ...(appProtocol && { appProtocol }) } as EndpointPort
}

/** In the service's primary IP family. */
function addressFor({ spec }: ServiceView, pod: PodView): string | undefined {
  const addresses = podIPsOf(pod)
  const hasOwn = spec?.clusterIP && spec.clusterIP !== 'None'
  const family = spec?.ipFamilies?.[0] ?? ipFamilyOf(hasOwn ? spec.clusterIP! : (addresses[0] ?? ''))
  return addresses.find(address => ipFamilyOf(address) === family)
}
