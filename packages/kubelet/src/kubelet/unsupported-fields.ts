import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { WorkerContext } from './worker-context.ts'

const longestText = 1_000

/** Reports once which fields of a Pod the runtime does not support. */
export function tellOfUnsupported(pod: DeepReadonly<Pod>, { runtime, events }: WorkerContext): void {
  const fields = runtime.findUnsupported?.(pod) ?? []
  if (fields.length === 0) return
  const text = `no effect on this node, whose containers are processes: ${fields.join(', ')}`
  events.warning(pod, 'Unsupported', text.slice(0, longestText))
}
