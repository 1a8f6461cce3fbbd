import type { SchedulerPlugin } from './plugin.ts'

/** A plug-in and the weight of its scores. */
export interface WeightedPlugin {
  readonly plugin: SchedulerPlugin
  /** @default 1 */
  readonly weight?: number
}

/** Upstream's extension points, in its order. */
export const extensionPoints = [
  'preFilter',
  'filter',
  'postFilter',
  'reserve',
  'preScore',
  'score',
  'preBind',
  'bind',
  'postBind',
  'permit',
  'preEnqueue',
  'queueSort',
] as const

/** The name of an extension point. */
export type ExtensionPoint = (typeof extensionPoints)[number]

/** The configuration for pods of one `schedulerName`. */
export interface Profile {
  readonly schedulerName: string
  /** In the order in which they run. */
  readonly plugins: readonly WeightedPlugin[]
  /** The plug-ins of each extension point, in order, by name. @default all that extend it */
  readonly points?: Readonly<Record<ExtensionPoint, readonly string[]>>
  /** Overrides that of the scheduler. */
  readonly percentageOfNodesToScore?: number
}

type PluginFunction = Exclude<keyof SchedulerPlugin, 'name' | 'kinds'>

/** A profile compiled by extension points, for the hot path. */
export interface CompiledProfile {
  readonly schedulerName: string
  readonly byName: ReadonlyMap<string, SchedulerPlugin>
  readonly weights: ReadonlyMap<string, number>
  readonly percentageOfNodesToScore?: number
  at<P extends PluginFunction>(point: P): readonly (SchedulerPlugin & Required<Pick<SchedulerPlugin, P>>)[]
}

/** Functions whose extension point has another name; `wakesOn` belongs to none. */
const pointOf: Readonly<Partial<Record<PluginFunction, ExtensionPoint>>> = {
  before: 'queueSort',
  unreserve: 'reserve',
  normalize: 'score',
  willPreBind: 'preBind',
}

export function compileProfile(profile: Profile): CompiledProfile {
  const { schedulerName, plugins, points, percentageOfNodesToScore } = profile
  const byName = new Map(plugins.map(({ plugin }) => [plugin.name, plugin]))
  const namesAt = (point: PluginFunction): Iterable<string> =>
    points?.[pointOf[point] ?? (point as ExtensionPoint)] ?? byName.keys()
  const compiled = new Map<PluginFunction, readonly SchedulerPlugin[]>()
  return {
    schedulerName,
    byName,
    weights: new Map(plugins.map(({ plugin, weight = 1 }) => [plugin.name, weight])),
    ...(percentageOfNodesToScore !== undefined && { percentageOfNodesToScore }),
    at<P extends PluginFunction>(point: P) {
      let found = compiled.get(point)
      if (!found) {
        found = [...namesAt(point)]
          .map(name => byName.get(name)!)
          .filter(plugin => plugin[point] !== undefined)
        compiled.set(point, found)
      }
      return found as readonly (SchedulerPlugin & Required<Pick<SchedulerPlugin, P>>)[]
    },
  }
}
