import { formatTime, isConflict, isNotFound, isObject, type JsonObject } from '@coxswain/apimachinery'
import { AsyncQueue } from '@coxswain/kit'
import { flowGroup } from '../flow-control/flow-control.ts'
import type { ServerState } from '../request/context.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { fieldManagerOf } from '../write/managed-fields.ts'

/** As upstream's; also the manager of what it writes. */
const manager = 'api-priority-and-fairness-config-consumer-v1'

/** Tells in the status of every FlowSchema whether the priority level it names exists. Resolves when `signal` aborts. */
export async function keepSchemaStatus(state: ServerState, signal: AbortSignal): Promise<void> {
  const endpoint = state.registry.find(flowGroup, 'v1', 'flowschemas')!
  const levels = state.registry.findResource(flowGroup, 'prioritylevelconfigurations')!.cache
  const { cache } = endpoint.resource
  const changes = new AsyncQueue<void>()
  const watcher = { namespace: '', onEvent: () => changes.push(), onEnd: () => changes.end() }
  for (const watched of [cache, levels]) watched.addWatcher(watcher)
  const stop = () => changes.end()
  signal.addEventListener('abort', stop, { once: true })
  changes.push()
  try {
    for await (const _ of changes) {
      if (signal.aborted) break
      for (const { name } of cache.list()) if (!signal.aborted) await judge(name)
    }
  } finally {
    for (const watched of [cache, levels]) watched.removeWatcher(watcher)
    signal.removeEventListener('abort', stop)
  }

  async function judge(name: string): Promise<void> {
    const stored = cache.get(`${cache.prefix}${name}`)
    if (!stored || isTold(stored.parse())) return
    try {
      await guaranteedUpdate(state, {
        endpoint,
        namespace: '',
        name,
        dryRun: false,
        conditional: () => false,
        change: async live => {
          if (isTold(live)) return { type: 'put', object: live }
          const { apiVersion, kind } = live
          const condition = { ...verdictOn(live), lastTransitionTime: formatTime(state.env.clock.now()) }
          const patch = { apiVersion, kind, metadata: { name }, status: { conditions: [condition] } }
          const applied = { live, patch, manager, subresource: 'status', force: true }
          return { type: 'put', object: fieldManagerOf(state, endpoint).apply(applied) as JsonObject }
        },
      })
    } catch (error) {
      // Gone, or changed: then it comes again. When the server stops, the next one does it.
      if (signal.aborted || isNotFound(error) || isConflict(error)) return
      state.env.log.error('the status of a flow schema was not written', { schema: name, error })
    }
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
