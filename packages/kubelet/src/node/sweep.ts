import { containerVariable, killMarked, markerVariable, markOf } from './process-registry.ts'
import { containerOf } from './process-usage.ts'

/** How long after a look that found something the next one is, in milliseconds. */
const pause = 5
/** After so many looks it is given up: something starts processes faster than they are ended. */
const maxLooks = 200

interface Sweep {
  readonly done: () => void
  looks: number
}

/** By runtime and container. All that end together share their looks. */
const sweeps = new Map<string, Sweep>()
let isLooking = false

/**
 * Ends what is left of a container whose leader has ended: what has left the group, and commands that were run beside it.
 * Looks again until nothing is found, since processes may start others while they are looked for. Only where there is a /proc.
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
