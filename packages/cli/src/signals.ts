import type { TaskGroup } from '@coxswain/kit'

/** The first SIGINT or SIGTERM stops the group; a second one ends the process at once. */
export function stopOnSignals(group: TaskGroup): void {
  let stopping = false
  const onSignal = () => {
    if (stopping) process.exit(1)
    stopping = true
    group.abort()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}
