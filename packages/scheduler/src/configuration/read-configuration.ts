import * as field from '@coxswain/apimachinery/field'
import { defaultSchedulerName, type SchedulerOptions } from '../create-scheduler.ts'
import {
  builtinPlugins,
  type DefaultPlugin,
  defaultPluginSet,
  type PluginFactory,
} from '../default-plugins.ts'
import { badConfiguration } from '../errors.ts'
import type { Evict } from '../evict.ts'
import { createExtender, type ExtenderConfiguration, type PostJson } from '../extender.ts'
import type { SchedulerPlugin } from '../plugin.ts'
import { type ExtensionPoint, extensionPoints, type Profile, type WeightedPlugin } from '../profile.ts'
import { decodeConfiguration } from './decode-configuration.ts'
import { expandPlugins, mergeMultiPoint, namesNeeded } from './plugin-sets.ts'
import type { KubeSchedulerConfiguration, KubeSchedulerProfile } from './types.ts'
import { validateResourcesFit } from './validate-args.ts'
import { validateConfiguration } from './validate-configuration.ts'

/** Options of {@link readSchedulerConfiguration}. */
export interface ReadConfigurationOptions {
  /** Your own plug-ins, which profiles name like built-in ones. */
  readonly plugins?: readonly (SchedulerPlugin | PluginFactory)[]
  /** Connects extenders. @default they are rejected */
  readonly connectExtender?: (extender: ExtenderConfiguration) => PostJson
}

/**
 * Converts a KubeSchedulerConfiguration (`kubescheduler.config.k8s.io/v1`) to the options of `createScheduler`. Plug-ins are
 * created once for validation, and again for every scheduler.
 * @throws SchedulerError `BadConfiguration`, in the words of kube-scheduler
 */
export function readSchedulerConfiguration(
  document: unknown,
  options: ReadConfigurationOptions = {},
): SchedulerOptions {
  const configuration = addDefaults(decodeConfiguration(document))
  const problems = validateConfiguration(configuration)
  if (problems.length > 0) throw badConfiguration(field.aggregateMessages(problems))
  const { profiles = [], extenders = [] } = configuration
  const connected = extenders.map((extender, index) => {
    if (options.connectExtender) return createExtender(extender, options.connectExtender(extender))
    throw badConfiguration(`extenders[${index}]: extenders are not supported: no connectExtender option`)
  })
  const ignored = extenders.flatMap(({ managedResources = [] }) =>
    managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
  )
  const create = (evict: Evict): Profile[] =>
    profiles.map(profile => createProfile(profile, createRegistry(evict, options.plugins, ignored)))
  create(async () => {})
  return {
    profiles: create,
    extenders: connected,
    percentageOfNodesToScore: configuration.percentageOfNodesToScore ?? 0,
    initialBackoff: (configuration.podInitialBackoffSeconds ?? 1) * 1_000,
    maxBackoff: (configuration.podMaxBackoffSeconds ?? 10) * 1_000,
  }
}

function addDefaults(configuration: KubeSchedulerConfiguration): KubeSchedulerConfiguration {
  const [first = {}, ...more] = configuration.profiles ?? []
  // Only a single profile may omit its name.
  const named = more.length === 0 ? { schedulerName: defaultSchedulerName, ...first } : first
  return { ...configuration, profiles: [named, ...more] }
}

type Registry = ReadonlyMap<string, DefaultPlugin>

function createRegistry(
  evict: Evict,
  plugins: readonly (SchedulerPlugin | PluginFactory)[] = [],
  ignoredResources: readonly string[],
): Registry {
  const registry = new Map<string, DefaultPlugin>(builtinPlugins(evict, ignoredResources))
  for (const plugin of plugins) {
    if (registry.has(plugin.name)) throw badConfiguration(`a plugin named ${plugin.name} already exists`)
    registry.set(plugin.name, { create: 'create' in plugin ? plugin.create : () => plugin })
  }
  return registry
}

function createProfile(profile: KubeSchedulerProfile, registry: Registry): Profile {
  const { schedulerName = '', plugins = {}, pluginConfig = [], percentageOfNodesToScore } = profile
  try {
    const multiPoint = mergeMultiPoint(defaultPluginSet, plugins.multiPoint)
    const made = new Map<string, SchedulerPlugin>()
    for (const name of namesNeeded(multiPoint, plugins)) {
      const source = registry.get(name)
      const args = pluginConfig.find(entry => entry.name === name)?.args
      if (source) made.set(name, createPlugin(name, source, args))
    }
    const extendsPoint = (plugin: SchedulerPlugin, point: ExtensionPoint) =>
      registry.get(plugin.name)?.points?.includes(point) ?? has(plugin, point)
    const find = (name: string) => made.get(name)
    const { points: expanded, weights } = expandPlugins(multiPoint, plugins, find, extendsPoint)
    const points = mapPoints(point => [
      ...expanded[point],
      // Points that upstream's plug-in does not extend cannot be configured.
      ...[...made.values()]
        .filter(plugin => has(plugin, point) && !extendsPoint(plugin, point))
        .map(({ name }) => name),
    ])
    if (points.queueSort.length !== 1)
      throw new Error(
        `only one queue sort plugin required for profile with scheduler name ${JSON.stringify(schedulerName)}, but got ${points.queueSort.length}`,
      )
    if (points.bind.length === 0)
      throw new Error(
        `at least one bind plugin is needed for profile with scheduler name ${JSON.stringify(schedulerName)}`,
      )
    const weighted: WeightedPlugin[] = [...made].map(([name, plugin]) => ({
      plugin,
      weight: weights.get(name) ?? 1,
    }))
    return {
      schedulerName,
      plugins: weighted,
      points,
      ...(percentageOfNodesToScore !== undefined && { percentageOfNodesToScore }),
    }
  } catch (error) {
    const { message } = error as Error
    throw badConfiguration(
      `initializing profiles: creating profile for scheduler name ${schedulerName}: ${message}`,
      error,
    )
  }
}

function createPlugin(name: string, { create }: DefaultPlugin, args: unknown): SchedulerPlugin {
  try {
    const problem = name === 'NodeResourcesFit' ? validateResourcesFit(args ?? {}) : ''
    if (problem !== '') throw new Error(problem)
    return create(args)
  } catch (error) {
    throw new Error(`initializing plugin ${JSON.stringify(name)}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function mapPoints<T>(make: (point: ExtensionPoint) => T): Record<ExtensionPoint, T> {
  return Object.fromEntries(extensionPoints.map(point => [point, make(point)])) as Record<ExtensionPoint, T>
}

function has(plugin: SchedulerPlugin, point: ExtensionPoint): boolean {
  if (point === 'queueSort') return plugin.before !== undefined
  if (point === 'reserve') return plugin.reserve !== undefined || plugin.unreserve !== undefined
  return plugin[point] !== undefined
}
