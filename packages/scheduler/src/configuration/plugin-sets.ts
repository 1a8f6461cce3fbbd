import type { SchedulerPlugin } from '../plugin.ts'
import { type ExtensionPoint, extensionPoints } from '../profile.ts'
import type { PluginReference, PluginSet, Plugins } from './types.ts'

/** The name of an extension point's interface without `Plugin`. */
const title = (point: ExtensionPoint): string => `${point[0]!.toUpperCase()}${point.slice(1)}Plugin`

/** The user's plug-ins merged with the default ones. */
export interface ExpandedPlugins {
  /** Plug-in names by extension point, in order. */
  readonly points: Record<ExtensionPoint, readonly string[]>
  /** Score weights, by plug-in. */
  readonly weights: ReadonlyMap<string, number>
}

/** The default plug-ins with those that `custom` disables, changes and adds. */
export function mergeMultiPoint(
  defaults: readonly PluginReference[],
  { enabled = [], disabled = [] }: PluginSet = {},
): PluginReference[] {
  const isOff = new Set(disabled.map(({ name }) => name))
  const kept = isOff.has('*') ? [] : defaults.filter(({ name }) => !isOff.has(name))
  const changed = new Map(enabled.map(plugin => [plugin.name, plugin]))
  const replaced = new Set<PluginReference>()
  const merged = kept.map(plugin => {
    const custom = changed.get(plugin.name)
    if (custom) replaced.add(custom)
    return custom ?? plugin
  })
  return [...merged, ...enabled.filter(plugin => !replaced.has(plugin))]
}

/** All plug-ins that have to be created. */
export function namesNeeded(multiPoint: readonly PluginReference[], plugins: Plugins): Set<string> {
  const sets = extensionPoints.map(point => plugins[point]?.enabled ?? [])
  return new Set([multiPoint, ...sets].flatMap(set => set.map(({ name }) => name)))
}

/**
 * Expands plug-in sets by extension point. `find` returns a created plug-in, `extendsPoint` whether it extends a point. Throws an
 * Error in kube-scheduler's words.
 */
export function expandPlugins(
  multiPoint: readonly PluginReference[],
  plugins: Plugins,
  find: (name: string) => SchedulerPlugin | undefined,
  extendsPoint: (plugin: SchedulerPlugin, point: ExtensionPoint) => boolean,
): ExpandedPlugins {
  const need = (name: string, point: ExtensionPoint): SchedulerPlugin => {
    const plugin = find(name)
    if (plugin) return plugin
    throw new Error(`${title(point)} ${JSON.stringify(name)} does not exist`)
  }
  const specific = new Map<ExtensionPoint, readonly string[]>()
  for (const point of extensionPoints) {
    const names = (plugins[point]?.enabled ?? []).map(({ name }) => name)
    for (const [index, name] of names.entries()) {
      if (!extendsPoint(need(name, point), point))
        throw new Error(`plugin ${JSON.stringify(name)} does not extend ${title(point)} plugin`)
      if (names.indexOf(name) !== index) throw alreadyRegistered(name, point)
    }
    specific.set(point, names)
  }
  const points = {} as Record<ExtensionPoint, readonly string[]>
  for (const point of extensionPoints) {
    const own = specific.get(point)!
    const isOff = new Set((plugins[point]?.disabled ?? []).map(({ name }) => name))
    if (isOff.has('*')) {
      points[point] = own
      continue
    }
    const overridden = new Set<string>()
    const general: string[] = []
    for (const { name } of multiPoint) {
      if (!extendsPoint(need(name, point), point) || isOff.has(name)) continue
      if (own.includes(name)) overridden.add(name)
      else if (general.includes(name)) throw alreadyRegistered(name, point)
      else general.push(name)
    }
    points[point] = [
      ...own.filter(name => overridden.has(name)),
      ...general,
      ...own.filter(name => !overridden.has(name)),
    ]
  }
  const scoring = [...(plugins.score?.enabled ?? []), ...multiPoint].filter(({ name }) =>
    extendsPoint(need(name, 'score'), 'score'),
  )
  return { points, weights: weigh(scoring) }
}

function alreadyRegistered(name: string, point: ExtensionPoint): Error {
  return new Error(`plugin ${JSON.stringify(name)} already registered as ${JSON.stringify(title(point))}`)
}

function weigh(plugins: readonly PluginReference[]): Map<string, number> {
  const weights = new Map<string, number>()
  for (const { name, weight } of plugins) if (!weights.has(name)) weights.set(name, weight || 1)
  // Upstream's sum overflows with a negative weight.
  if ([...weights.values()].some(weight => weight < 0))
    throw new Error('score plugins: total score of Score plugins could overflow')
  return weights
}
