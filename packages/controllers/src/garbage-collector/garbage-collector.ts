import { TaskGroup } from '@coxswain/kit'
import { defineOperator, type Operator } from '@coxswain/runtime'
import { ResourceKinds, type ResourceSource } from '../resource-kinds.ts'
import { Collector } from './collector.ts'
import { Monitors } from './monitors.ts'

/** Milliseconds between two discoveries of the server's resources. */
const discoveryPeriod = 5_000

/** Options of {@link createGarbageCollector}. */
export interface GarbageCollectorOptions {
  /** Which resources to watch. @default all that the server serves, discovered again every five seconds */
  readonly resources?: ResourceSource & {
    /** Resolves when they have changed. */
    changed(signal: AbortSignal): Promise<void>
  }
}

/**
 * Deletes objects whose owners no longer exist, orphans the dependents of owners deleted with the Orphan policy, and holds owners
 * deleted in the foreground until their dependents are deleted, for every resource of the server.
 */
export function createGarbageCollector({ resources }: GarbageCollectorOptions = {}): Operator {
  return defineOperator('garbage-collector', operator => {
    operator.task('garbage-collector', async ({ client, env, events, signal }) => {
      const direct = client.direct
      const kinds = resources ?? new ResourceKinds(direct)
      await using group = new TaskGroup(signal)
      const collector: Collector = new Collector({
        client: direct,
        env,
        kinds,
        events: events.from({ component: 'garbage-collector-controller' }),
        isComplete: () => monitors.complete(),
      })
      const monitors = new Monitors({ client: direct, env, group, observer: collector })
      group.spawn(stop => collector.run(stop))
      try {
        while (!signal.aborted) {
          try {
            monitors.update((await kinds.refresh()).resources)
          } catch (error) {
            if (signal.aborted) return
            env.log.warn('discovery failed', { error })
          }
          await (resources?.changed(signal) ?? env.clock.sleep(discoveryPeriod, { signal }))
        }
      } finally {
        monitors.end()
      }
    })
  })
}
