import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import type { MetricsRegistry } from '@coxswain/kit/metrics'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import { ControlLoop } from '../cache/control-loop.ts'
import type { Registry } from '../registry/registry.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { ignoreDeleted } from '../write/ignore-deleted.ts'
import type { StorePorts } from '../write/ports.ts'
import {
  type ApiService,
  type ApiServices,
  apiServicesPrefix,
  availabilityOf,
  coreApiService,
  type ExtensionServer,
  isRemote,
  type RemoteApiService,
} from './api-services.ts'
import { fetchDocument, timedOut } from './fetch-document.ts'
import type { ProxyPorts } from './proxy.ts'

export interface AvailabilityPorts extends ProxyPorts, StorePorts {
  readonly registry: Registry
  readonly services: ApiServices
  readonly metrics: MetricsRegistry
}

/** How often a server is checked that was available, in milliseconds; also the longest wait after a failure. */
const interval = 30_000
/** The wait after the first failure; doubles with each further one. */
const firstRetry = 5
/** How long a check may take. */
const timeout = 5_000
/** Checks at once: a Service may have endpoints of which only some respond. */
const attempts = 5

/** May see discovery whatever the rules of the extension API server say. */
const checker = { name: 'system:kube-aggregator', groups: ['system:masters'] }

const servicesPrefix = '/core/services/'
const slicesPrefix = '/discovery.k8s.io/endpointslices/'
const serviceLabel = 'kubernetes.io/service-name'

/** The condition `Available`, without its time. */
interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** Keeps the condition `Available` of every APIService. Reasons and messages are those of kube-aggregator. */
export function createAvailabilityLoop(ports: AvailabilityPorts): ControlLoop {
  const { services, cache, env, registry } = ports
  const endpoint = registry.find('apiregistration.k8s.io', 'v1', 'apiservices')!
  const failures = new Map<string, number>()
  const { unavailable, failed } = registerMetrics(ports)
  return new ControlLoop(ports, {
    name: 'apiservice-availability',
    prefixes: [apiServicesPrefix, servicesPrefix, slicesPrefix],
    workers: 5,
    keysOf({ object }) {
      if (object.key.startsWith(apiServicesPrefix)) return [object.name]
      const name = object.key.startsWith(servicesPrefix) ? object.name : object.labels[serviceLabel]
      const isOf = ({ server }: ApiService) => server?.name === name && server?.namespace === object.namespace
      return services.all.filter(isOf).map(service => service.name)
    },
    initialKeys: () => services.all.map(({ name }) => name),
    reconcile,
  })

  async function reconcile(name: string, signal: AbortSignal): Promise<number | undefined> {
    const service = services.get(name)
    if (!service) {
      failures.delete(name)
      unavailable.set(0, name)
      return undefined
    }
    const verdict = isRemote(service) ? await judge(ports, service, signal) : local
    unavailable.set(verdict.status === 'True' ? 0 : 1, name)
    await report(service, verdict)
    if (!isRemote(service)) return undefined
    if (verdict.reason !== 'FailedDiscoveryCheck') {
      failures.delete(name)
      return interval
    }
    const count = failures.get(name) ?? 0
    failures.set(name, count + 1)
    return Math.min(firstRetry * 2 ** count, interval)
  }

  async function report(service: ApiService, verdict: Verdict): Promise<void> {
    const stored = cache.resource(apiServicesPrefix).get(apiServicesPrefix + service.name)
    if (!stored || isReported(stored.parse(), verdict)) return
    await guaranteedUpdate(ports, {
      endpoint,
      namespace: '',
      name: service.name,
      dryRun: false,
      conditional: () => false,
      change: async live => ({
        type: 'put',
        object: setAvailability(live, verdict, formatTime(env.clock.now())),
      }),
    }).catch(ignoreDeleted)
    env.log.info('changing APIService availability', { name: service.name, ...verdict })
    if (service.isAvailable && verdict.status !== 'True') failed.add(1, service.name, verdict.reason)
  }
}

const local: Verdict = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
}

async function judge(
  ports: AvailabilityPorts,
  service: RemoteApiService,
  signal: AbortSignal,
): Promise<Verdict> {
  return findProblem(ports, service.server) ?? (await check(ports, service, signal))
}

/** What is wrong with the Service and its endpoints, if anything is. */
function findProblem({ cache }: AvailabilityPorts, server: ExtensionServer): Verdict | undefined {
  const { namespace, name, port } = server
  const fail = (reason: string, message: string): Verdict => ({ status: 'False', reason, message })
  const place = `service/${name} in ${JSON.stringify(namespace)}`
  const stored = cache.resource(servicesPrefix).get(`${servicesPrefix}${namespace}/${name}`)
  if (!stored) return fail('ServiceNotFound', `${place} is not present`)
  const spec = objectOf(stored.parse().spec)
  if (spec.type !== 'ClusterIP') return undefined
  const servicePort = listOf(spec.ports).find(candidate => candidate.port === port)
  if (!servicePort) return fail('ServicePortError', `${place} is not listening on port ${port}`)
  const portName = textOf(servicePort.name)
  const slices = cache
    .resource(slicesPrefix)
    .list(`${slicesPrefix}${namespace}/`)
    .filter(({ labels }) => labels[serviceLabel] === name)
    .map(slice => slice.parse())
  if (slices.length === 0) return fail('EndpointsNotFound', `cannot find endpointslices for ${place}`)
  if (slices.some(slice => hasEndpoint(slice, portName))) return undefined
  const wanted = JSON.stringify(portName)
  return fail('MissingEndpoints', `endpointslices for ${place} have no addresses with port name ${wanted}`)
}

function hasEndpoint(slice: JsonObject, portName: string): boolean {
  const isReady = listOf(slice.endpoints).some(({ conditions }) => objectOf(conditions).ready !== false)
  return (
    isReady &&
    listOf(slice.ports).some(
      ({ name, port }) => typeof name === 'string' && name === portName && port !== undefined,
    )
  )
}

/** Asks the server for the discovery of its group and version; one success in several attempts is enough. */
async function check(
  ports: AvailabilityPorts,
  service: RemoteApiService,
  signal: AbortSignal,
): Promise<Verdict> {
  const enough = new AbortController()
  const end = AbortSignal.any([signal, enough.signal])
  let message = ''
  const attempt = async () => {
    const problem = await findFailure(ports, service, end)
    if (problem === undefined) return
    message = problem
    throw new Error(problem)
  }
  try {
    await Promise.any(Array.from({ length: attempts }, attempt))
    return { status: 'True', reason: 'Passed', message: 'all checks passed' }
  } catch {
    signal.throwIfAborted()
    return { status: 'False', reason: 'FailedDiscoveryCheck', message }
  } finally {
    enough.abort()
  }
}

/** Why the server cannot be used; undefined if it can. */
async function findFailure(
  ports: AvailabilityPorts,
  { name, group, version, server }: RemoteApiService,
  signal: AbortSignal,
): Promise<string | undefined> {
  const resolved = ports.servers.resolve(server)
  if (!resolved.found) return resolved.reason
  const path = name === coreApiService ? `/api/${version}` : `/apis/${group}/${version}`
  const url = `https://${resolved.address}${path}`
  const fail = (reason: string) => `failing or missing response from ${url}: ${reason}`
  try {
    const request = { address: resolved.address, path, user: checker, timeout, limit: 0, signal }
    const { status } = await fetchDocument(ports, server, request)
    return status < 200 || status >= 300 ? fail(`bad status from ${url}: ${status}`) : undefined
  } catch (error) {
    signal.throwIfAborted()
    const { message } = error as Error
    const isLate = message === timedOut
    return fail(
      `Get ${JSON.stringify(url)}: ${message}${isLate ? ' (Client.Timeout exceeded while awaiting headers)' : ''}`,
    )
  }
}

function isReported(object: JsonObject, verdict: Verdict): boolean {
  const { status, reason, message } = availabilityOf(object) ?? {}
  return deepEqual({ status, reason, message }, { ...verdict })
}

/** The time changes with the status only. */
function setAvailability(object: JsonObject, verdict: Verdict, now: string): JsonObject {
  const conditions = listOf(objectOf(object.status).conditions)
  const present = conditions.find(({ type }) => type === 'Available')
  const lastTransitionTime = present?.status === verdict.status ? present.lastTransitionTime : now
  const condition = { type: 'Available', ...verdict, lastTransitionTime } as JsonObject
  return {
    ...object,
    status: {
      ...objectOf(object.status),
      conditions: present
        ? conditions.map(one => (one === present ? condition : one))
        : [...conditions, condition],
    },
  }
}

function registerMetrics({ metrics }: AvailabilityPorts) {
  const unavailable = metrics.gauge({
    name: 'aggregator_unavailable_apiservice',
    help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    labels: ['name'],
  })
  const failed = metrics.counter({
    name: 'aggregator_unavailable_apiservice_total',
    help: 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    labels: ['name', 'reason'],
  })
  return { unavailable, failed }
}
