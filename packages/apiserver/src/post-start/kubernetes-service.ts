import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import { ipFamilyOf } from '@coxswain/kinds'
import type { Operation } from '@coxswain/storage'
import { objectOf, stringsOf, textOf } from '@coxswain/strategies'
import {
  addressAt,
  addressPrefix,
  createIPAddress,
  isOwnedBy,
  parseRange,
  rangePrefix,
} from '@coxswain/strategies/service'
import { ControlLoop } from '../cache/control-loop.ts'
import { encodeStored } from '../cache/stored-object.ts'
import type { ClusterNetwork } from '../request/context.ts'
import type { StartPorts } from './ports.ts'
import { repairAllocations } from './repair-allocations.ts'

const namespace = 'default'
const name = 'kubernetes'
const portName = 'https'
const rangeKey = rangePrefix + name
const serviceKey = `/core/services/${namespace}/${name}`
const endpointsKey = `/core/endpoints/${namespace}/${name}`
const sliceKey = `/discovery.k8s.io/endpointslices/${namespace}/${name}`
const keys = [rangeKey, serviceKey, endpointsKey, sliceKey]

/** What the service `kubernetes` needs of the server. */
export interface NetworkPorts extends StartPorts {
  readonly network: ClusterNetwork
}

/**
 * How clients inside the cluster find the API server: the ServiceCIDR, the Service `kubernetes` on
 * its first address, and its endpoints. Endpoints follow the advertised address; the rest is never changed.
 */
export async function createKubernetesService(ports: NetworkPorts): Promise<void> {
  await ensureAll(ports)
  await repairAllocations(ports)
}

/** Recreates what is deleted of it. */
export function createKubernetesServiceLoop(ports: NetworkPorts): ControlLoop {
  return new ControlLoop(ports, {
    name: 'kubernetes-service',
    prefixes: keys.map(prefixOf),
    keysOf: ({ type, object }) => (type === 'DELETED' && keys.includes(object.key) ? [name] : []),
    initialKeys: () => [],
    reconcile: () => ensureAll(ports),
  })
}

async function ensureAll(ports: NetworkPorts): Promise<void> {
  const { serviceRanges, advertise } = ports.network
  const { address, port } = await advertise()
  const grows = growsByFamily(ports, serviceRanges)
  await ensure(ports, rangeKey, serviceCIDR(serviceRanges), grows ? ['spec'] : [])
  await ensureService(ports, service(serviceRanges[0]!, port))
  await ensure(ports, endpointsKey, endpoints(address, port), ['subsets'])
  const slice = endpointSlice(address, port)
  await ensure(ports, sliceKey, slice, ['endpoints', 'ports'])

  function serviceCIDR(cidrs: readonly string[]): JsonObject {
    const ready = {
      type: 'Ready',
      status: 'True',
      lastTransitionTime: formatTime(ports.env.clock.now()),
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

/** Whether a single-stack cluster becomes dual-stack: the only possible change of its range. */
function growsByFamily(ports: NetworkPorts, ranges: readonly string[]): boolean {
  const stored = ports.cache.resource(rangePrefix).get(rangeKey)
  const present = stored ? stringsOf(objectOf(stored.parse().spec).cidrs) : []
  return present.length === 1 && ranges.length === 2 && present[0] === ranges[0]
}

/** The Service and its IPAddress, in one transaction; nothing when another Service has the address. */
async function ensureService(ports: NetworkPorts, object: JsonObject): Promise<void> {
  const { env, cache, store } = ports
  if (cache.resource(prefixOf(serviceKey)).get(serviceKey)) return
  const ip = textOf(objectOf(object.spec).clusterIP)
  const addressKey = addressPrefix + ip
  const address = cache.resource(addressPrefix).get(addressKey)
  const owner = { namespace, name }
  if (address && !isOwnedBy(address.parse(), owner)) {
    env.log.warn('the first address of the service range belongs to another service', { address: ip })
    return
  }
  const operations: Operation[] = [
    { type: 'put', key: serviceKey, value: encodeStored(complete(ports, object)) },
  ]
  if (!address) {
    const value = encodeStored(createIPAddress(env, ip, owner))
    operations.push({ type: 'put', key: addressKey, value })
  }
  const result = await store.transact({
    conditions: [
      { key: serviceKey, modRevision: 0 },
      { key: addressKey, modRevision: address?.revision ?? 0 },
    ],
    operations,
  })
  await cache.waitFor(result.revision)
}

/** A new object with the metadata that every object has. */
function complete({ env }: NetworkPorts, object: JsonObject): JsonObject {
  const { name: own, ...rest } = object.metadata as JsonObject
  const creationTimestamp = formatTime(env.clock.now())
  return { ...object, metadata: { name: own, uid: env.random.uuid(), creationTimestamp, ...rest } }
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
    addressType: ipFamilyOf(address),
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: portName, protocol: 'TCP', port }],
  }
}

/** Creates `object`, or sets the members `kept` of an existing one. */
async function ensure(
  ports: NetworkPorts,
  key: string,
  object: JsonObject,
  kept: readonly string[] = [],
): Promise<void> {
  const stored = ports.cache.resource(prefixOf(key)).get(key)
  let wanted: JsonObject
  if (stored) {
    const present = stored.parse()
    if (kept.every(member => deepEqual(present[member], object[member]))) return
    wanted = { ...present }
    for (const member of kept) wanted[member] = object[member]
  } else {
    wanted = complete(ports, object)
  }
  const operation: Operation = { type: 'put', key, value: encodeStored(wanted) }
  const result = await ports.store.transact({
    conditions: [{ key, modRevision: stored?.revision ?? 0 }],
    operations: [operation],
  })
  await ports.cache.waitFor(result.revision)
}
