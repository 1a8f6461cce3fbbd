import type { JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import { encodeStored, StoredObject } from '../cache/stored-object.ts'
import { createMatcher } from '../read/matcher.ts'
import { View } from '../read/view.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext, ServerState } from '../request/context.ts'
import { parseListOptions, validateListOptions } from '../request/list-options.ts'
import type { RequestVerb } from '../request/request-info.ts'
import type { ComponentCheck, ComponentHealth } from './health.ts'

/** Milliseconds that a part has to answer. */
const timeout = 20_000

type ComponentHandler = (context: ResourceContext, endpoint: Endpoint) => Promise<WireResponse>

/** Undefined for every other resource, and for what there is nothing special about. */
export function findComponentHandler(
  { resource }: Endpoint,
  verb: RequestVerb,
): ComponentHandler | undefined {
  const { group, resource: name } = resource.info
  if (group !== '' || name !== 'componentstatuses') return undefined
  return verb === 'get' ? getComponent : verb === 'list' ? listComponents : undefined
}

async function getComponent(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const { state, info } = context
  const view = new View(context, endpoint)
  const check = checksOf(state).get(info.name)
  if (!check) throw newNotFound({ group: '', resource: 'componentstatus' }, info.name)
  return await view.object(200, makeStatus(info.name, await check()))
}

async function listComponents(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
  const view = new View(context, endpoint)
  const options = parseListOptions(context.query)
  validateListOptions(options, false)
  const matcher = createMatcher(endpoint, options)
  const names = [...checksOf(context.state)].sort(([a], [b]) => (a < b ? -1 : 1))
  const made = await Promise.all(names.map(async ([name, check]) => makeStatus(name, await check())))
  const matches = (object: JsonObject) => {
    const { name } = object.metadata as { name: string }
    return matcher.matches(new StoredObject(name, '', name, 0, encodeStored(object)))
  }
  return view.made(made.filter(matches))
}

/** The store, and what the host of the server knows of. */
function checksOf(state: ServerState): Map<string, ComponentCheck> {
  return new Map([...Object.entries(state.components), ['etcd-0', () => checkStore(state)]])
}

async function checkStore({ cache, healthChecks, env }: ServerState): Promise<ComponentHealth> {
  const error = healthChecks.find(({ name }) => name === 'etcd')?.check()
  if (error !== undefined) return { healthy: false, error }
  const late = new AbortController()
  const answered = (async () => await cache.fresh())().then(
    () => undefined,
    (failure: Error) => failure.message,
  )
  const gaveUp = env.clock.sleep(timeout, { signal: late.signal }).then(
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
