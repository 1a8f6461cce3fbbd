import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { isQualifiedName } from '@coxswain/apimachinery/validation'
import type { ExtenderConfiguration } from '../extender.ts'
import type {
  KubeSchedulerConfiguration,
  KubeSchedulerProfile,
  LeaderElectionConfiguration,
  PluginSet,
} from './types.ts'
import { validateArgs } from './validate-args.ts'

type FieldError = ReturnType<typeof field.required>

const { Path, duplicate, invalid, required } = field

/** Validates a configuration with its defaults, in kube-scheduler's words. */
export function validateConfiguration(configuration: KubeSchedulerConfiguration): string[] {
  const {
    profiles = [],
    extenders = [],
    parallelism = 16,
    percentageOfNodesToScore,
    podInitialBackoffSeconds: initial = 1,
    podMaxBackoffSeconds: maximum = 10,
    leaderElection = {},
    clientConnection = {},
  } = configuration
  const at = (name: string) => Path.of(name)
  const errors: FieldError[] = []
  if ((clientConnection.burst ?? 0) < 0)
    errors.push(
      invalid(at('clientConnection').child('burst'), clientConnection.burst, 'must be non-negative'),
    )
  for (const error of validateLeaderElection(leaderElection)) errors.push(error)
  if (parallelism <= 0)
    errors.push(invalid(at('parallelism'), parallelism, 'should be an integer value greater than zero'))
  const messages = errors.map(field.formatFieldError)
  for (const message of validateProfiles(profiles)) messages.push(message)
  const rest = validatePercentage(at('percentageOfNodesToScore'), percentageOfNodesToScore)
  if (initial <= 0) rest.push(invalid(at('podInitialBackoffSeconds'), initial, 'must be greater than 0'))
  if (maximum < initial) {
    const detail = 'must be greater than or equal to PodInitialBackoffSeconds'
    rest.push(invalid(at('podMaxBackoffSeconds'), maximum, detail))
  }
  for (const item of validateExtenders(extenders)) rest.push(item)
  return [...messages, ...rest.map(field.formatFieldError)]
}

function validateLeaderElection(election: LeaderElectionConfiguration): FieldError[] {
  const { leaderElect = true } = election
  const resourceLock = election.resourceLock || 'leases'
  if (!leaderElect) return []
  const path = Path.of('leaderElection')
  const errors: FieldError[] = []
  const positive = (name: 'leaseDuration' | 'renewDeadline' | 'retryPeriod', otherwise: string) => {
    const text = election[name] || otherwise
    // Zero counts as unset.
    const milliseconds =
      durationToMilliseconds(parseDuration(text)) || durationToMilliseconds(parseDuration(otherwise))
    if (milliseconds < 0) errors.push(invalid(path.child(name), text, 'must be greater than zero'))
    return milliseconds
  }
  const lease = positive('leaseDuration', '15s')
  const renew = positive('renewDeadline', '10s')
  positive('retryPeriod', '2s')
  if (lease <= renew) {
    const detail = 'must be greater than `RenewDeadline`'
    errors.push(invalid(path.child('leaseDuration'), election.renewDeadline || '10s', detail))
  }
  if (resourceLock !== 'leases')
    errors.push(invalid(path.child('resourceLock'), resourceLock, 'resourceLock value must be "leases"'))
  return errors
}

function validatePercentage(path: field.Path, percentage: number | undefined): FieldError[] {
  if (percentage === undefined || (percentage >= 0 && percentage <= 100)) return []
  return [invalid(path, percentage, 'not in valid range [0-100]')]
}

function validateProfiles(profiles: readonly KubeSchedulerProfile[]): string[] {
  const messages: string[] = []
  const path = Path.of('profiles')
  const add = (...errors: readonly FieldError[]) => {
    for (const error of errors) messages.push(field.formatFieldError(error))
  }
  const names = new Set<string>()
  for (const [index, profile] of profiles.entries()) {
    const { schedulerName = '', percentageOfNodesToScore } = profile
    const at = path.index(index)
    if (schedulerName === '') add(required(at.child('schedulerName')))
    add(...validatePercentage(at.child('percentageOfNodesToScore'), percentageOfNodesToScore))
    for (const message of validatePluginConfig(profile, at)) messages.push(message)
    if (names.has(schedulerName)) add(duplicate(at.child('schedulerName'), {}))
    names.add(schedulerName)
  }
  add(...validateQueueSort(profiles, path))
  return messages
}

/** Removed with the in-tree volumes. */
const removedPlugins = ['AzureDiskLimits', 'CinderLimits', 'EBSLimits', 'GCEPDLimits']

function validatePluginConfig(
  { plugins = {}, pluginConfig = [] }: KubeSchedulerProfile,
  path: field.Path,
): string[] {
  const messages: string[] = []
  const refuseRemoved = (at: field.Path, name: string): boolean => {
    if (!removedPlugins.includes(name)) return false
    const detail =
      'was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")'
    messages.push(field.formatFieldError(invalid(at, name, detail)))
    return true
  }
  for (const [point, set] of Object.entries(plugins)) {
    if (point === 'multiPoint') continue
    const at = path.child('plugins', point, 'enabled')
    for (const [index, { name }] of (set?.enabled ?? []).entries()) refuseRemoved(at.index(index), name)
  }
  const seen = new Set<string>()
  for (const [index, { name, args }] of pluginConfig.entries()) {
    const at = path.child('pluginConfig').index(index)
    if (seen.has(name)) messages.push(field.formatFieldError(duplicate(at, name)))
    seen.add(name)
    if (!refuseRemoved(at, name))
      for (const message of validateArgs(name, args ?? {}, at.child('args'))) messages.push(message)
  }
  return messages
}

/** There is one queue, so all profiles must have the same order. */
function validateQueueSort(profiles: readonly KubeSchedulerProfile[], path: field.Path): FieldError[] {
  const errors: FieldError[] = []
  const setOf = (profile: KubeSchedulerProfile | undefined): PluginSet => profile?.plugins?.queueSort ?? {}
  const argsOf = (profile: KubeSchedulerProfile | undefined, name: string | undefined) =>
    profile?.pluginConfig?.find(entry => entry.name === name)?.args
  const first = setOf(profiles[0])
  const count = first.enabled?.length ?? 0
  if (count > 1) {
    const at = path.index(0).child('plugins', 'queueSort', 'Enabled')
    errors.push(invalid(at, count, 'only one queue sort plugin can be enabled'))
  }
  const name = first.enabled?.[0]?.name
  const args = argsOf(profiles[0], name)
  for (const [index, profile] of profiles.entries()) {
    const { enabled, disabled } = setOf(profile)
    if (!deepEqual([enabled ?? [], disabled ?? []], [first.enabled ?? [], first.disabled ?? []])) {
      const value = field.Printed.inOrder({ Enabled: enabled ?? null, Disabled: disabled ?? null })
      const at = path.index(index).child('plugins', 'queueSort')
      errors.push(invalid(at, value, 'must be the same for all profiles'))
    }
    const own = argsOf(profile, name)
    if (own !== undefined && !deepEqual(own, args)) {
      const at = path.index(index).child('pluginConfig', 'args')
      errors.push(invalid(at, own, 'queueSort must be the same for all profiles'))
    }
  }
  return errors
}

function validateExtenders(extenders: readonly ExtenderConfiguration[]): FieldError[] {
  const errors: FieldError[] = []
  const path = Path.of('extenders')
  const managed = new Set<string>()
  for (const [index, { prioritizeVerb, weight = 0, managedResources = [] }] of extenders.entries()) {
    const at = path.index(index)
    if (prioritizeVerb && weight <= 0)
      errors.push(invalid(at.child('weight'), weight, 'must have a positive weight applied to it'))
    for (const [number, { name }] of managedResources.entries()) {
      const place = at.child('managedResources').index(number).child('name')
      for (const error of validateExtendedResource(name, place)) errors.push(error)
      if (managed.has(name)) errors.push(invalid(place, name, 'duplicate extender managed resource name'))
      managed.add(name)
    }
  }
  const binders = extenders.filter(({ bindVerb }) => bindVerb).length
  if (binders > 1) {
    const found = `found ${binders} extenders implementing bind`
    errors.push(invalid(path, found, 'only one extender can implement bind'))
  }
  return errors
}

function validateExtendedResource(name: string, path: field.Path): FieldError[] {
  const wrong = isQualifiedName(name)
  if (wrong.length > 0) return wrong.map(detail => invalid(path, name, detail))
  const isExtended =
    name.includes('/') &&
    !name.includes('kubernetes.io/') &&
    !name.startsWith('requests.') &&
    isQualifiedName(`requests.${name}`).length === 0
  return isExtended ? [] : [invalid(path, name, 'is an invalid extended resource name')]
}
