import { containerVariable, killMarked, markerVariable, markOf } from './process-registry.ts'
import { containerOf } from './process-usage.ts'

/** Milliseconds between a search that found something and the next one. */
const pause = 5
/** The number of searches before giving up: processes are started faster than they are ended. */
const maxLooks = 200

interface Sweep {
  readonly done: () => void
  looks: number
}

/** By runtime and container. Containers that end together share their searches. */
const sweeps = new Map<string, Sweep>()
let isLooking = false

/**
 * Ends the remaining processes of a container whose leader has ended: those that have left the group, and exec commands.
 * Repeats the search until nothing is found, since processes may start others meanwhile. Needs /proc.
 */
export function sweepContainer(id: string, runtime: string | undefined): Promise<void> {
  return new Promise(resolve => {
    sweeps.set(keyOf(id, runtime), { done: resolve, looks: 0 })
    if (!isLooking) setTimeout(look, 0)
    isLooking = true
  })
}

/** Another runtime of this machine may have a container of the same name. */
function keyOf(id: string, runtime: string | undefined): string {
  return `${id} ${runtime}`
}

function look(): void {
  const busy = new Set<string>()
  killMarked(containerVariable, (value, pid) => {
    const key = keyOf(containerOf(value), markOf(pid, markerVariable))
    if (sweeps.has(key)) busy.add(key)
    return sweeps.has(key)
  })
  for (const [key, sweep] of sweeps) {
    if (busy.has(key) && ++sweep.looks < maxLooks) continue
    sweeps.delete(key)
    sweep.done()
  }
  isLooking = sweeps.size > 0
  if (isLooking) setTimeout(look, pause)
}
