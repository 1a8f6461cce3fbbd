import { deepEqual } from '@coxswain/apimachinery'
import type { Operation } from '@coxswain/storage'
import { encodeStored } from '../../cache/stored-object.ts'
import { formatTime } from '../../handlers/lifecycle.ts'
import type { JsonObject } from '../../json.ts'
import type { ServerState } from '../../request/context.ts'
import { addressAt, familyOf, parseRange, rangePrefix } from './pools.ts'
import { repairAllocations, watchDeletions } from './repair.ts'

const namespace = 'default'
const name = 'kubernetes'
const portName = 'https'
const rangeKey = rangePrefix + name
const serviceKey = `/core/services/${namespace}/${name}`
const endpointsKey = `/core/endpoints/${namespace}/${name}`
const sliceKey = `/discovery.k8s.io/endpointslices/${namespace}/${name}`
const keys = [rangeKey, serviceKey, endpointsKey, sliceKey]

/**
 * What lets clients inside the cluster find the API server: the range of service addresses, the service `kubernetes` on
 * its first address, and the endpoints behind it. Endpoints follow the advertised address; the rest stays as it is.
 */
export async function createKubernetesService(state: ServerState): Promise<void> {
  const { serviceRanges, advertise } = state.network
  const { address, port } = await advertise()
  await ensure(state, rangeKey, serviceCIDR(serviceRanges))
  await ensure(state, serviceKey, service(serviceRanges[0]!, port))
  await repairAllocations(state)
  await ensure(state, endpointsKey, endpoints(address, port), ['subsets'])
  const slice = endpointSlice(address, port)
  await ensure(state, sliceKey, slice, ['endpoints', 'ports'])

  function serviceCIDR(cidrs: readonly string[]): JsonObject {
    const ready = {
      type: 'Ready',
      status: 'True',
      lastTransitionTime: formatTime(state.env.clock.now()),
      reason: '',
      message: 'Kubernetes default Service CIDR is ready',
    }
    return {
      kind: 'ServiceCIDR',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name },
      spec: { cidrs },
      status: { conditions: [ready] },
    }
  }
}

/** Puts back what somebody deletes of it. Resolves once `signal` aborts. */
export async function keepKubernetesService(state: ServerState, signal: AbortSignal): Promise<void> {
  for await (const deleted of watchDeletions(state, keys.map(prefixOf), signal))
    if (keys.includes(deleted.key)) await createKubernetesService(state)
}

/** `/GROUP/RESOURCE/` of a key. */
const prefixOf = (key: string): string => key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1)

function service(range: string, targetPort: number): JsonObject {
  const { family, first } = parseRange(range)!
  const clusterIP = addressAt(family, first)
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [{ name: portName, protocol: 'TCP', port: 443, targetPort }],
      clusterIP,
      clusterIPs: [clusterIP],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: [family],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  }
}

function endpoints(ip: string, port: number): JsonObject {
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip }], ports: [{ name: portName, port, protocol: 'TCP' }] }],
  }
}

function endpointSlice(address: string, port: number): JsonObject {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name, namespace, generation: 1, labels: { 'kubernetes.io/service-name': name } },
    addressType: familyOf(address),
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: portName, protocol: 'TCP', port }],
  }
}

/** Creates `object`, or brings the members `kept` of what is there in line with it. */
async function ensure(
  state: ServerState,
  key: string,
  object: JsonObject,
  kept: readonly string[] = [],
): Promise<void> {
  const { clock, random } = state.env
  const stored = state.cache.resource(prefixOf(key)).get(key)
  let wanted: JsonObject
  if (stored) {
    const present = stored.parse()
    if (kept.every(member => deepEqual(present[member], object[member]))) return
    wanted = { ...present }
    for (const member of kept) wanted[member] = object[member]
  } else {
    const { name: own, ...rest } = object.metadata as JsonObject
    const creationTimestamp = formatTime(clock.now())
    wanted = { ...object, metadata: { name: own, uid: random.uuid(), creationTimestamp, ...rest } }
  }
  const operation: Operation = { type: 'put', key, value: encodeStored(wanted) }
  const result = await state.store.transact({
    conditions: [{ key, modRevision: stored?.revision ?? 0 }],
    operations: [operation],
  })
  await state.cache.waitFor(result.revision)
}
