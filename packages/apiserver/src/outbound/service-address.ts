import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Random } from '@coxswain/kit'
import type { WatchCache } from '../cache/watch-cache.ts'

export interface ServicePlace {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** `host:port`, or why there is none, in upstream's words. */
export type ServiceAddress =
  | { readonly found: true; readonly address: string }
  | { readonly found: false; readonly reason: string }

/** At least one `host:port`, or why there is none. */
export type ServiceAddresses =
  | { readonly found: true; readonly addresses: readonly string[] }
  | { readonly found: false; readonly reason: string }

const slicesPrefix = '/discovery.k8s.io/endpointslices/'
const serviceLabel = 'kubernetes.io/service-name'

/** One of the addresses of a Service, at random. */
export function findServiceAddress(cache: WatchCache, random: Random, place: ServicePlace): ServiceAddress {
  return chooseAddress(findServiceAddresses(cache, place), random)
}

export function chooseAddress(known: ServiceAddresses, random: Random): ServiceAddress {
  if (!known.found) return known
  const { addresses } = known
  return { found: true, address: addresses[addresses.length === 1 ? 0 : random.below(addresses.length)]! }
}

/**
 * Resolves a Service to addresses: its ready endpoints, since cluster addresses may not be routable where the API server runs;
 * the cluster address of a Service without endpoints.
 */
export function findServiceAddresses(cache: WatchCache, place: ServicePlace): ServiceAddresses {
  const { namespace, name, port } = place
  const stored = cache.resource('/core/services/').get(`/core/services/${namespace}/${name}`)
  if (!stored) return missing(`service "${name}" not found`)
  const spec = objectOf(stored.parse().spec)
  if (spec.type === 'ExternalName') return found([String(spec.externalName)], port)
  const servicePort = listOf(spec.ports).find(candidate => candidate.port === port)
  if (!servicePort) return missing(`no service port ${port} found for service "${name}"`)
  const portName = String(servicePort.name ?? '')
  const family = Array.isArray(spec.ipFamilies) ? String(spec.ipFamilies[0]) : 'IPv4'
  const groups = [
    ...slicesOf(cache, namespace, name).sort(
      (a, b) => Number(b.family === family) - Number(a.family === family),
    ),
    ...subsetsOf(cache, namespace, name),
  ]
  for (const { ports, addresses } of groups) {
    const number = ports.find(candidate => String(candidate.name ?? '') === portName)?.port
    if (typeof number !== 'number' || addresses.length === 0) continue
    return found(addresses, number)
  }
  const isHeadless = spec.clusterIP === 'None' || typeof spec.clusterIP !== 'string' || spec.clusterIP === ''
  if (groups.length > 0 || isHeadless) return missing(`no endpoints available for service "${name}"`)
  return found([String(spec.clusterIP)], port)
}

/** Addresses that share ports. */
interface EndpointGroup {
  readonly family: string
  readonly ports: readonly JsonObject[]
  /** Ready endpoints only. */
  readonly addresses: readonly string[]
}

function slicesOf(cache: WatchCache, namespace: string, service: string): EndpointGroup[] {
  return cache
    .resource(slicesPrefix)
    .list(`${slicesPrefix}${namespace}/`)
    .filter(({ labels }) => labels[serviceLabel] === service)
    .map(stored => {
      const slice = stored.parse()
      const ready = listOf(slice.endpoints).filter(({ conditions }) => objectOf(conditions).ready !== false)
      const addresses = ready.flatMap(endpoint =>
        Array.isArray(endpoint.addresses) ? endpoint.addresses : [],
      )
      return { family: String(slice.addressType), ports: listOf(slice.ports), addresses }
    })
}

/** Endpoints without EndpointSlices that mirror them. */
function subsetsOf(cache: WatchCache, namespace: string, service: string): EndpointGroup[] {
  const stored = cache.resource('/core/endpoints/').get(`/core/endpoints/${namespace}/${service}`)
  return listOf(stored?.parse().subsets).map(subset => ({
    family: 'IPv4',
    ports: listOf(subset.ports),
    addresses: listOf(subset.addresses).map(({ ip }) => String(ip)),
  }))
}

function found(hosts: readonly string[], port: number): ServiceAddresses {
  return { found: true, addresses: hosts.map(host => `${host.includes(':') ? `[${host}]` : host}:${port}`) }
}

function missing(reason: string): ServiceAddresses {
  return { found: false, reason }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
