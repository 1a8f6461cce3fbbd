import type { SchedulerPlugin } from './plugin.ts'

/** A plug-in and what its scores count. */
export interface WeightedPlugin {
  readonly plugin: SchedulerPlugin
  /** @default 1 */
  readonly weight?: number
}

/** How the pods of one `schedulerName` are scheduled. */
export interface Profile {
  readonly schedulerName: string
  /** In the order in which they are asked. */
  readonly plugins: readonly WeightedPlugin[]
}

/** A profile sorted by extension points, for the hot path. */
export interface CompiledProfile {
  readonly schedulerName: string
  readonly byName: ReadonlyMap<string, SchedulerPlugin>
  readonly weights: ReadonlyMap<string, number>
  at<P extends keyof SchedulerPlugin>(
    point: P,
  ): readonly (SchedulerPlugin & Required<Pick<SchedulerPlugin, P>>)[]
}

export function compileProfile({ schedulerName, plugins }: Profile): CompiledProfile {
  const points = new Map<string, readonly SchedulerPlugin[]>()
  return {
    schedulerName,
    byName: new Map(plugins.map(({ plugin }) => [plugin.name, plugin])),
    weights: new Map(plugins.map(({ plugin, weight = 1 }) => [plugin.name, weight])),
    at<P extends keyof SchedulerPlugin>(point: P) {
      let found = points.get(point)
      if (!found) {
        found = plugins.filter(({ plugin }) => plugin[point] !== undefined).map(({ plugin }) => plugin)
        points.set(point, found)
      }
      return found as readonly (SchedulerPlugin & Required<Pick<SchedulerPlugin, P>>)[]
    },
  }
}
