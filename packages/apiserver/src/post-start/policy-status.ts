import { isConflict, isNotFound, isObject, type JsonObject } from '@coxswain/apimachinery'
import { AsyncQueue } from '@coxswain/kit'
import { checkTypes } from '../admission/policies/type-checking.ts'
import type { ServerState } from '../request/context.ts'
import { guaranteedUpdate } from '../write/guaranteed-update.ts'
import { metadataOf } from '../write/lifecycle.ts'
import { fieldManagerOf } from '../write/managed-fields.ts'

/** As upstream's controller manager calls it; also the manager of what it writes. */
export const policyStatusController = 'validatingadmissionpolicy-status-controller'

/**
 * Checks the types of ValidatingAdmissionPolicies and writes what it finds to their status. It is part of the server since
 * it needs the schemas of everything that is served. Resolves when `signal` aborts.
 */
export async function runPolicyStatusController(state: ServerState, signal: AbortSignal): Promise<void> {
  const endpoint = state.registry.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies')!
  const { cache } = endpoint.resource
  const queue = new AsyncQueue<string>()
  const watcher = {
    namespace: '',
    onEvent: ({ type, object }: { readonly type: string; readonly object: { readonly name: string } }) => {
      if (type !== 'DELETED') queue.push(object.name)
    },
    onEnd: () => queue.end(),
  }
  cache.addWatcher(watcher)
  for (const stored of cache.list()) queue.push(stored.name)
  const stop = () => queue.end()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const name of queue) {
      if (signal.aborted) break
      await judge(name)
    }
  } finally {
    cache.removeWatcher(watcher)
    signal.removeEventListener('abort', stop)
  }

  async function judge(name: string): Promise<void> {
    const stored = cache.get(`${cache.prefix}${name}`)
    if (!stored || !needsCheck(stored.parse())) return
    try {
      await guaranteedUpdate(state, {
        endpoint,
        namespace: '',
        name,
        dryRun: false,
        conditional: () => false,
        change: async live => {
          if (!needsCheck(live)) return { type: 'put', object: live }
          const expressionWarnings = checkTypes(state, live)
          const patch = {
            apiVersion: live.apiVersion,
            kind: live.kind,
            metadata: { name },
            status: {
              observedGeneration: metadataOf(live).generation,
              typeChecking: expressionWarnings.length > 0 ? { expressionWarnings } : {},
            },
          }
          const manager = fieldManagerOf(state, endpoint)
          const applied = { live, patch, manager: policyStatusController, subresource: 'status', force: true }
          return { type: 'put', object: manager.apply(applied) as JsonObject }
        },
      })
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return // gone, or changed: then it comes again
      state.env.log.error('type checking of a policy failed', { policy: name, error })
    }
  }
}

function needsCheck(policy: JsonObject): boolean {
  const status = isObject(policy.status) ? policy.status : {}
  const observed = typeof status.observedGeneration === 'number' ? status.observedGeneration : 0
  return (metadataOf(policy).generation ?? 0) > observed
}
