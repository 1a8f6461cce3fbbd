import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Span } from '@coxswain/kit'
import type { StoredObject } from '../cache/stored-object.ts'
import type { Endpoint } from '../registry/registry.ts'
import { guaranteedUpdate, type UpdateOutcome } from './guaranteed-update.ts'
import { metadataOf } from './metadata.ts'
import { runSteps, type Step } from './pipeline.ts'
import type { Write } from './write.ts'

/** Runs the steps for the present object and stores it, again whenever a concurrent write changed it; `begin` is called before each attempt. */
export function changeStored<W extends Write>(
  write: W,
  steps: readonly Step<W>[],
  begin?: () => void,
): Promise<StoredObject | JsonObject> {
  const { ports, endpoint, context, options } = write
  const stored = guaranteedUpdate(ports, {
    endpoint,
    namespace: context.info.namespace,
    name: context.info.name,
    dryRun: options.dryRun,
    conditional: () => write.conditional,
    change: async current => {
      write.old = current
      write.claim = undefined
      begin?.()
      const pending = runSteps(steps, write)
      if (pending) await pending
      return outcomeOf(write)
    },
  })
  return context.span ? noteStored(stored, context.span) : stored
}

async function noteStored<T>(stored: Promise<T>, span: Span): Promise<T> {
  const result = await stored
  span.addEvent('store')
  return result
}

function outcomeOf({ endpoint, object, claim }: Write): UpdateOutcome {
  if (isFinished(endpoint, object)) return { type: 'delete', object }
  return claim ? { type: 'put', object, claim } : { type: 'put', object }
}

/** Whether a terminating object has nothing left to wait for. */
function isFinished({ resource }: Endpoint, object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadataOf(object)
  if (deletionTimestamp === undefined || finalizers?.length || deletionGracePeriodSeconds) return false
  return !resource.strategy.holdsDeletion?.(object)
}
