import type { JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound } from '@coxswain/apimachinery/status'
import type { Clock } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import { createMatcher } from '../read/matcher.ts'
import type { Reader } from '../read/read.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { parseListOptions, validateListOptions } from '../request/list-options.ts'
import type { RequestVerb } from '../request/request-info.ts'
import type { EndpointHandler } from './endpoint-handler.ts'
import type { ComponentCheck, ComponentHealth, HealthCheck } from './health.ts'

/** Milliseconds that a component has to answer. */
const timeout = 20_000

/** What `componentstatuses` needs of the server. */
export interface ComponentStatusPorts {
  readonly clock: Clock
  readonly cache: WatchCache
  readonly reader: Reader
  readonly healthChecks: readonly HealthCheck[]
  /** The other components of the control plane, by name. */
  readonly components: Readonly<Record<string, ComponentCheck>>
}

export type FindComponentStatus = (endpoint: Endpoint, verb: RequestVerb) => EndpointHandler | undefined

/** Finds the handlers of `componentstatuses`; undefined for other resources and verbs. */
export function createComponentStatuses(ports: ComponentStatusPorts): FindComponentStatus {
  const handlers: Partial<Record<RequestVerb, EndpointHandler>> = {
    get: (context, endpoint) => getComponent(ports, context, endpoint),
    list: (context, endpoint) => listComponents(ports, context, endpoint),
  }
  return ({ resource }, verb) => {
    const { group, resource: name } = resource.info
    return group === '' && name === 'componentstatuses' ? handlers[verb] : undefined
  }
}

async function getComponent(
  ports: ComponentStatusPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const { name } = context.info
  const view = ports.reader.view(context, endpoint)
  const check = checksOf(ports).get(name)
  if (!check) throw newNotFound({ group: '', resource: 'componentstatus' }, name)
  return await view.object(200, makeStatus(name, await check()))
}

async function listComponents(
  ports: ComponentStatusPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const view = ports.reader.view(context, endpoint)
  const options = parseListOptions(context.query)
  validateListOptions(options)
  const matcher = createMatcher(endpoint, options)
  const names = [...checksOf(ports)].sort(([a], [b]) => (a < b ? -1 : 1))
  const made = await Promise.all(names.map(async ([name, check]) => makeStatus(name, await check())))
  const matches = (object: JsonObject) => {
    const { name } = object.metadata as { name: string }
    return matcher.matches(new StoredObject(name, '', name, 0, encodeStored(object)))
  }
  return view.made(made.filter(matches))
}

/** The store, and the components that the server's host registered. */
function checksOf(ports: ComponentStatusPorts): Map<string, ComponentCheck> {
  return new Map([...Object.entries(ports.components), ['etcd-0', () => checkStore(ports)]])
}

async function checkStore({ cache, healthChecks, clock }: ComponentStatusPorts): Promise<ComponentHealth> {
  const error = healthChecks.find(({ name }) => name === 'etcd')?.check()
  if (error !== undefined) return { healthy: false, error }
  const late = new AbortController()
  const answered = (async () => await cache.fresh())().then(
    () => undefined,
    (failure: Error) => failure.message,
  )
  const gaveUp = clock.sleep(timeout, { signal: late.signal }).then(
    () => 'the store does not answer',
    () => undefined,
  )
  const problem = await Promise.race([answered, gaveUp])
  late.abort()
  return problem === undefined ? { healthy: true, message: 'ok' } : { healthy: false, error: problem }
}

function makeStatus(name: string, { healthy, ...rest }: ComponentHealth): JsonObject {
  const status = healthy === 'unknown' ? 'Unknown' : healthy ? 'True' : 'False'
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [{ type: 'Healthy', status, ...rest }],
  }
}
