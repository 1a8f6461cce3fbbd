import type { Kind } from '@coxswain/apimachinery/kinds'
import { defineOperator, type Operator } from '@coxswain/runtime'
import { createDefaultPlugins } from './default-plugins.ts'
import type { Evict } from './evict.ts'
import type { Extender } from './extender.ts'
import type { SchedulerPlugin } from './plugin.ts'
import { PodStatusWriter } from './pod-status.ts'
import type { Profile, WeightedPlugin } from './profile.ts'
import { Scheduler } from './scheduler.ts'

/** Options of {@link createScheduler}. */
export interface SchedulerOptions {
  /** Your own plug-ins, in addition to the default ones or replacing those of the same name. */
  readonly plugins?: readonly (SchedulerPlugin | WeightedPlugin)[]
  /** Replaces the profiles; `evict` evicts a preempted pod. @default one, `default-scheduler` */
  readonly profiles?: (evict: Evict) => readonly Profile[]
  readonly extenders?: readonly Extender[]
  /** Kinds that your own plug-ins read. */
  readonly kinds?: readonly Kind[]
  /** 0 adapts to the size of the cluster. @default 0 */
  readonly percentageOfNodesToScore?: number
  /** Milliseconds of back-off after a pod's first failure; doubles. @default 1000 */
  readonly initialBackoff?: number
  /** @default 10000 */
  readonly maxBackoff?: number
}

/** The `schedulerName` of the default profile. */
export const defaultSchedulerName = 'default-scheduler'

/** Creates a scheduler as an operator, to be run beside others. */
export function createScheduler(options: SchedulerOptions = {}): Operator {
  const { plugins = [], profiles, ...settings } = options
  return defineOperator('kube-scheduler', operator => {
    operator.task('scheduler', async ({ client: { direct: client }, env, events, signal }) => {
      const { evict } = new PodStatusWriter(client, env.clock, events)
      const own = plugins.map(entry => ('plugin' in entry ? entry : { plugin: entry }))
      const isOwn = (name: string) => own.some(({ plugin }) => plugin.name === name)
      const others = createDefaultPlugins(evict).filter(({ plugin }) => !isOwn(plugin.name))
      const chosen = profiles?.(evict) ?? [
        { schedulerName: defaultSchedulerName, plugins: [...own, ...others] },
      ]
      const read = chosen.flatMap(profile => profile.plugins.flatMap(({ plugin }) => plugin.kinds ?? []))
      const kinds = [...(settings.kinds ?? []), ...read]
      await new Scheduler({ ...settings, client, env, events, profiles: chosen, kinds }).run(signal)
    })
  })
}
