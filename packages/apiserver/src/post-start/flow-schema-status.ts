import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import { ControlLoop } from '../cache/control-loop.ts'
import { flowGroup } from '../flow-control/flow-control.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { ignoreDeleted } from '../write/ignore-deleted.ts'
import type { StatusPorts } from './status-ports.ts'

/** Upstream's controller name; also the field manager of its writes. */
const manager = 'api-priority-and-fairness-config-consumer-v1'

/** Reports in the status of every FlowSchema whether its priority level exists. */
export function createSchemaStatusLoop(ports: StatusPorts): ControlLoop {
  const endpoint = ports.registry.find(flowGroup, 'v1', 'flowschemas')!
  const levels = ports.registry.findResource(flowGroup, 'prioritylevelconfigurations')!.cache
  const { cache } = endpoint.resource
  const allSchemas = () => cache.list().map(({ name }) => name)
  return new ControlLoop(ports, {
    name: manager,
    prefixes: [cache.prefix, levels.prefix],
    keysOf: ({ object }) => (object.key.startsWith(cache.prefix) ? [object.name] : allSchemas()),
    initialKeys: allSchemas,
    reconcile,
  })

  async function reconcile(name: string): Promise<void> {
    const stored = cache.get(`${cache.prefix}${name}`)
    if (!stored || isTold(stored.parse())) return
    await guaranteedUpdate(ports, {
      endpoint,
      namespace: '',
      name,
      dryRun: false,
      conditional: () => false,
      change: async live => {
        if (isTold(live)) return { type: 'put', object: live }
        const { apiVersion, kind } = live
        const condition = { ...verdictOn(live), lastTransitionTime: formatTime(ports.env.clock.now()) }
        const patch = { apiVersion, kind, metadata: { name }, status: { conditions: [condition] } }
        const applied = { live, patch, manager, subresource: 'status', force: true }
        return { type: 'put', object: ports.fieldManagers.of(endpoint).apply(applied) as JsonObject }
      },
    }).catch(ignoreDeleted)
  }

  function verdictOn({ spec }: JsonObject) {
    const reference = isObject(spec) ? spec.priorityLevelConfiguration : undefined
    const level = isObject(reference) ? String(reference.name ?? '') : ''
    const isThere = cacheHas(level)
    const what = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
    return isThere
      ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${what} and it exists` }
      : {
          type: 'Dangling',
          status: 'True',
          reason: 'NotFound',
          message: `${what} but there is no such object`,
        }
  }

  function cacheHas(level: string): boolean {
    return levels.get(`${levels.prefix}${level}`) !== undefined
  }

  function isTold(schema: JsonObject): boolean {
    const conditions = isObject(schema.status) ? schema.status.conditions : undefined
    const known = Array.isArray(conditions) ? conditions.find(({ type }) => type === 'Dangling') : undefined
    const verdict = verdictOn(schema)
    return (
      known?.status === verdict.status && known.reason === verdict.reason && known.message === verdict.message
    )
  }
}
