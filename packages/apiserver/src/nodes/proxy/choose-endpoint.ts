import type { JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound, newServiceUnavailable } from '@coxswain/apimachinery/status'
import type { Env } from '@coxswain/kit'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import type { WatchCache } from '../../cache/watch-cache.ts'

/** The Pod chosen for a request to a Service. */
export interface ChosenEndpoint {
  readonly pod: JsonObject
  /** One of the Pod's addresses. */
  readonly address: string
  readonly port: number
}

/** A port of a Service, as a proxy request names it. */
export interface ServicePort {
  readonly namespace: string
  readonly service: string
  readonly portName: string
  /** The name in the request's path, for error messages. */
  readonly requested: string
}

interface Ports {
  readonly cache: WatchCache
  readonly env: Env
}

interface Candidate {
  readonly address: string
  readonly port: number
  readonly targetRef: JsonObject
}

const slicesPrefix = '/discovery.k8s.io/endpointslices/'
const endpointsPrefix = '/core/endpoints/'
const serviceLabel = 'kubernetes.io/service-name'

/**
 * A random ready endpoint of a Service. Only addresses of Pods in the Service's own namespace count, and only while
 * the Pod has that address: a user who may write endpoints cannot redirect the API server elsewhere. Throws upstream's 404 and 503.
 */
export function chooseEndpoint({ cache, env }: Ports, target: ServicePort): ChosenEndpoint {
  const { namespace, service, portName, requested } = target
  const groups = slicesOf(cache, namespace, service) ?? subsetsOf(cache, namespace, service)
  if (!groups) throw newNotFound({ group: '', resource: 'services' }, service)
  const candidates = groups.flatMap(({ ports, endpoints }) => {
    const port = ports.find(({ name }) => textOf(name) === portName)?.port
    return typeof port === 'number' ? endpoints.map(endpoint => ({ ...endpoint, port })) : []
  })
  const start = candidates.length === 0 ? 0 : env.random.below(candidates.length)
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[(start + i) % candidates.length]!
    const pod = podOf(cache, namespace, candidate)
    if (pod) return { pod, address: candidate.address, port: candidate.port }
  }
  const isEmpty = groups.every(({ endpoints }) => endpoints.length === 0)
  throw newServiceUnavailable(`no endpoints available for service "${isEmpty ? service : requested}"`)
}

interface EndpointGroup {
  readonly ports: readonly JsonObject[]
  /** Ready endpoints only. */
  readonly endpoints: readonly Omit<Candidate, 'port'>[]
}

function slicesOf(cache: WatchCache, namespace: string, service: string): EndpointGroup[] | undefined {
  const slices = cache
    .resource(slicesPrefix)
    .list(`${slicesPrefix}${namespace}/`)
    .filter(({ labels }) => labels[serviceLabel] === service)
  if (slices.length === 0) return undefined
  return slices.map(stored => {
    const slice = stored.parse()
    const ready = listOf(slice.endpoints).filter(({ conditions }) => objectOf(conditions).ready !== false)
    const endpoints = ready.flatMap(({ addresses, targetRef }) => {
      const [address] = Array.isArray(addresses) ? addresses : []
      return { address: textOf(address), targetRef: objectOf(targetRef) }
    })
    return { ports: listOf(slice.ports), endpoints }
  })
}

/** The Endpoints of a Service without EndpointSlices. */
function subsetsOf(cache: WatchCache, namespace: string, service: string): EndpointGroup[] | undefined {
  const stored = cache.resource(endpointsPrefix).get(`${endpointsPrefix}${namespace}/${service}`)
  if (!stored) return undefined
  return listOf(stored.parse().subsets).map(({ ports, addresses }) => ({
    ports: listOf(ports),
    endpoints: listOf(addresses).map(({ ip, targetRef }) => ({
      address: textOf(ip),
      targetRef: objectOf(targetRef),
    })),
  }))
}

/** The Pod with a candidate's address. */
function podOf(cache: WatchCache, namespace: string, candidate: Candidate): JsonObject | undefined {
  const { address, targetRef } = candidate
  if (targetRef.kind !== undefined && targetRef.kind !== 'Pod') return undefined
  if (textOf(targetRef.namespace) !== namespace) return undefined
  const pod = cache
    .resource('/core/pods/')
    .get(`/core/pods/${namespace}/${textOf(targetRef.name)}`)
    ?.parse()
  const addresses = listOf(objectOf(pod?.status).podIPs).map(({ ip }) => ip)
  return addresses.includes(address) ? pod : undefined
}
