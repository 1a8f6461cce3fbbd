import * as field from '@coxswain/apimachinery/field'
import { createRequirement, type LabelOperator } from '@coxswain/apimachinery/selectors'
import { durationToMilliseconds, parseDuration } from '@coxswain/apimachinery/time'
import { validateLabelName } from '@coxswain/apimachinery/validation'
import type { PluginArgs } from '../default-plugins.ts'
import type { DynamicResourcesArgs } from '../plugins/dynamic-resources.ts'

type FieldError = ReturnType<typeof field.required>
type Args<N extends keyof PluginArgs> = NonNullable<PluginArgs[N]>

const { Printed, duplicate, forbidden, invalid, notSupported, required } = field

const rules: { readonly [N in keyof PluginArgs]-?: (args: Args<N>, path: field.Path) => string[] } = {
  DefaultPreemption: (args, path) => format(validatePreemption(args, path)),
  DynamicResources: (args, path) => format(validateDynamicResources(args, path)),
  InterPodAffinity: ({ hardPodAffinityWeight = 1 }, path) =>
    format(checkRange(path.child('hardPodAffinityWeight'), hardPodAffinityWeight, 0, 100)),
  NodeAffinity: validateNodeAffinity,
  NodeResourcesBalancedAllocation: (args, path) => format(validateBalance(args, path)),
  // kube-scheduler validates these when it creates the plug-in, which is why its message has no path.
  NodeResourcesFit: () => [],
  PodTopologySpread: (args, path) => format(validateTopologySpread(args, path)),
  VolumeBinding: (args, path) => format(validateVolumeBinding(args, path)),
}

function format(errors: readonly FieldError[]): string[] {
  return errors.map(field.formatFieldError)
}

/** Validates the arguments of a built-in plug-in. Custom plug-ins validate their own. */
export function validateArgs(name: string, args: unknown, path: field.Path): string[] {
  const rule = Object.hasOwn(rules, name) ? rules[name as keyof typeof rules] : undefined
  return rule ? (rule as (args: unknown, path: field.Path) => string[])(args, path) : []
}

function checkRange(path: field.Path, value: number, low: number, high: number): FieldError[] {
  return value < low || value > high ? [invalid(path, value, `not in valid range [${low}, ${high}]`)] : []
}

function validatePreemption(args: Args<'DefaultPreemption'>, path: field.Path): FieldError[] {
  const { minCandidateNodesPercentage: percentage = 10, minCandidateNodesAbsolute: absolute = 100 } = args
  const [share, count] = [path.child('minCandidateNodesPercentage'), path.child('minCandidateNodesAbsolute')]
  const errors = checkRange(share, percentage, 0, 100)
  if (absolute < 0) errors.push(invalid(count, absolute, 'not in valid range [0, inf)'))
  if (percentage === 0 && absolute === 0) {
    const detail = 'cannot be zero at the same time as'
    errors.push(invalid(share, percentage, `${detail} minCandidateNodesAbsolute`))
    errors.push(invalid(count, absolute, `${detail} minCandidateNodesPercentage`))
  }
  return errors
}

function validateDynamicResources(args: DynamicResourcesArgs, path: field.Path): FieldError[] {
  const errors: FieldError[] = []
  const { filterTimeout = '10s', bindingTimeout = '10m' } = args
  const milliseconds = (text: string) => durationToMilliseconds(parseDuration(text))
  if (milliseconds(filterTimeout) < 0)
    errors.push(invalid(path.child('filterTimeout'), filterTimeout, 'must be zero or positive'))
  if (milliseconds(bindingTimeout) < 1_000)
    errors.push(invalid(path.child('bindingTimeout'), bindingTimeout, 'must be at least 1 second'))
  return errors
}

function validateBalance(
  { resources = [] }: Args<'NodeResourcesBalancedAllocation'>,
  path: field.Path,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, { name, weight }] of resources.entries()) {
    const at = path.child('resources').index(index)
    if (seen.has(name)) errors.push(duplicate(at.child('name'), name))
    seen.add(name)
    if ((weight || 1) !== 1) errors.push(invalid(at.child('weight'), weight, 'must be 1'))
  }
  return errors
}

function validateVolumeBinding(args: Args<'VolumeBinding'>, path: field.Path): FieldError[] {
  const { bindTimeoutSeconds: timeout = 600, shape } = args
  const errors: FieldError[] = []
  if (timeout < 0) {
    const detail = 'invalid BindTimeoutSeconds, should not be a negative value'
    errors.push(invalid(path.child('bindTimeoutSeconds'), timeout, detail))
  }
  if (shape) {
    const printed = Printed.inOrder(
      shape.map(({ utilization = 0, score = 0 }) => ({ Utilization: utilization, Score: score })),
    )
    const detail = 'unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring'
    errors.push(invalid(path.child('shape'), printed, detail))
  }
  return errors
}

const actions = ['DoNotSchedule', 'ScheduleAnyway']

function validateTopologySpread(args: Args<'PodTopologySpread'>, path: field.Path): FieldError[] {
  const { defaultConstraints = [], defaultingType = 'System' } = args
  const errors: FieldError[] = []
  const type = path.child('defaultingType')
  if (defaultingType !== 'System' && defaultingType !== 'List')
    errors.push(notSupported(type, defaultingType, ['System', 'List']))
  else if (defaultingType === 'System' && defaultConstraints.length > 0)
    errors.push(invalid(type, defaultingType, 'when .defaultConstraints are not empty'))
  const list = path.child('defaultConstraints')
  const seen = new Set<string>()
  for (const [index, constraint] of defaultConstraints.entries()) {
    const { maxSkew = 0, topologyKey = '', labelSelector } = constraint
    const when: string = constraint.whenUnsatisfiable ?? ''
    const at = list.index(index)
    if (maxSkew <= 0) errors.push(invalid(at.child('maxSkew'), maxSkew, 'not in valid range (0, inf)'))
    const key = at.child('topologyKey')
    if (topologyKey === '') errors.push(required(key, 'can not be empty'))
    else for (const error of validateLabelName(topologyKey, key)) errors.push(error)
    if (when === '') errors.push(required(at.child('whenUnsatisfiable'), 'can not be empty'))
    else if (!actions.includes(when)) errors.push(notSupported(at.child('whenUnsatisfiable'), when, actions))
    if (labelSelector) {
      const detail = 'constraint must not define a selector, as they deduced for each pod'
      errors.push(forbidden(at.child('labelSelector'), detail))
    }
    const id = `{${topologyKey}, ${when}}`
    if (seen.has(id)) errors.push(duplicate(at, id))
    seen.add(id)
  }
  return errors
}

const strategies = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']

/** The errors of upstream's plug-in when it is created. */
export function validateResourcesFit(args: Args<'NodeResourcesFit'>): string {
  const errors: FieldError[] = []
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy = {} } = args
  const at = (name: string) => field.Path.of(name)
  for (const [index, name] of ignoredResources.entries())
    for (const error of validateLabelName(name, at('ignoredResources').index(index))) errors.push(error)
  for (const [index, name] of ignoredResourceGroups.entries()) {
    const place = at('ignoredResourceGroups').index(index)
    if (name.includes('/')) errors.push(invalid(place, name, "resource group name can't contain '/'"))
    for (const error of validateLabelName(name, place)) errors.push(error)
  }
  const path = at('scoringStrategy')
  const { resources = [], requestedToCapacityRatio: ratio } = scoringStrategy
  // Without a strategy there is the default one; a strategy without a type is an error.
  const type: string = args.scoringStrategy ? (scoringStrategy.type ?? '') : 'LeastAllocated'
  if (!strategies.includes(type)) errors.push(notSupported(path.child('type'), type, strategies))
  for (const [index, { name, weight }] of resources.entries()) {
    const value = weight || 1
    if (value > 0 && value <= 100) continue
    const place = path.child('resources').index(index).child('weight')
    errors.push(invalid(place, value, `resource weight of ${name} not in valid range (0, 100]`))
  }
  const place = path.child('requestedToCapacityRatio')
  if (type === 'RequestedToCapacityRatio') {
    const detail = 'must be specified when type is RequestedToCapacityRatio'
    if (ratio) for (const error of validateShape(ratio.shape, place.child('shape'))) errors.push(error)
    else errors.push(required(place, detail))
  } else if (ratio) errors.push(forbidden(place, 'must be nil when type is not RequestedToCapacityRatio'))
  return field.aggregate(errors)
}

type Shape = readonly { readonly utilization: number; readonly score: number }[]

function validateShape(shape: Shape = [], path: field.Path): FieldError[] {
  if (shape.length === 0) return [required(path, 'at least one point must be specified')]
  const errors: FieldError[] = []
  const at = (index: number, name: string) => path.index(index).child(name)
  const fallsBack = shape.findIndex(
    ({ utilization = 0 }, index) => index > 0 && (shape[index - 1]!.utilization ?? 0) >= utilization,
  )
  if (fallsBack > 0) {
    const detail = 'values must be sorted in increasing order'
    errors.push(invalid(at(fallsBack, 'utilization'), shape[fallsBack]!.utilization ?? 0, detail))
  }
  for (const [index, { utilization = 0, score = 0 }] of shape.entries()) {
    for (const error of checkRange(at(index, 'utilization'), utilization, 0, 100)) errors.push(error)
    for (const error of checkRange(at(index, 'score'), score, 0, 10)) errors.push(error)
  }
  return errors
}

interface Term {
  readonly matchExpressions?: readonly TermRequirement[]
  readonly matchFields?: readonly TermRequirement[]
}

interface TermRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

const operators: Readonly<Record<string, LabelOperator>> = {
  __proto__: null as never,
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
}

function validateNodeAffinity({ addedAffinity = {} }: Args<'NodeAffinity'>, path: field.Path): string[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: needed,
    preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
  } = addedAffinity
  const at = path.child('addedAffinity')
  const terms = at.child('requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms')
  return [
    ...(needed?.nodeSelectorTerms ?? []).flatMap((term, index) => validateTerm(term, terms.index(index))),
    ...preferred.flatMap(({ weight, preference }, index) => {
      const place = at.child('preferredDuringSchedulingIgnoredDuringExecution').index(index)
      return weight ? validateTerm(preference, place) : []
    }),
  ]
}

function validateTerm({ matchExpressions = [], matchFields = [] }: Term, path: field.Path): string[] {
  const messages: string[] = []
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const at = path.child('matchExpressions').index(index)
    const known = operators[operator]
    if (known === undefined)
      messages.push(
        field.formatFieldError(notSupported(at.child('operator'), operator, Object.keys(operators))),
      )
    else {
      const wrong = problemOf(() => createRequirement(key, 'exists', [], at))
      // Errors of the key are already reported.
      const other = problemOf(() => createRequirement(wrong === undefined ? key : 'key', known, values, at))
      for (const item of [wrong, other].filter(message => message !== undefined)) messages.push(item)
    }
  }
  for (const [index, { operator, values = [] }] of matchFields.entries()) {
    const at = path.child('matchFields').index(index)
    if (operator !== 'In' && operator !== 'NotIn')
      messages.push(field.formatFieldError(notSupported(at.child('operator'), operator, ['In', 'NotIn'])))
    else if (values.length !== 1)
      messages.push(
        field.formatFieldError(
          invalid(at.child('values'), values.length > 0 ? values : null, 'must have one element'),
        ),
      )
  }
  return messages
}

function problemOf(attempt: () => unknown): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
