import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  SuccessPolicyRule,
} from '@coxswain/api/batch/v1'
import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Subdomain, regexError } from '@coxswain/apimachinery/validation'
import { validateNonnegatives } from '../apps/template.ts'
import { validatePodTemplate } from '../core/pod/validation/pod-spec.ts'
import type { Decoded } from '../decoded.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, numberOf, printed, validateQualifiedName } from '../shared/reading.ts'
import { countIndexes } from './indexes.ts'

const indexedLimit = 100_000
const manyCompletions = 100_000
const limitForMany = 10_000
const maxManagedBy = 63

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const

/** The spec of a Job without its selector, which the template of a CronJob does not have. */
export function* validateJobSpec(spec: Decoded<JobSpec>, path: field.Path): Findings {
  yield* validateNonnegatives(spec, counts, path)
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    yield field.required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified')
  if (spec.managedBy !== undefined) yield* validateManager(spec.managedBy ?? '', path.child('managedBy'))
  yield* validateCompletionMode(spec, path)
  if (spec.podFailurePolicy) yield* validateFailurePolicy(spec, path.child('podFailurePolicy'))
  if (spec.successPolicy) yield* validateSuccessPolicy(spec, path.child('successPolicy'))
  yield* validateReplacementPolicy(spec, path.child('podReplacementPolicy'))
  yield* validatePodTemplate(spec.template ?? {}, path.child('template'))
  yield* validateRestartPolicy(spec, path.child('template', 'spec', 'restartPolicy'))
}

/** The name of a controller: a domain and a path. */
function* validateManager(name: string, path: field.Path): Findings {
  const slash = name.indexOf('/')
  const host = name.slice(0, Math.max(slash, 0))
  const rest = name.slice(slash + 1)
  if (name === '') yield field.required(path)
  else if (host === '' || rest === '') {
    yield field.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
  } else {
    yield* invalidBecause(path, host, isDNS1123Subdomain(host))
    if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest))
      yield field.invalid(path, rest, regexError('Invalid path', "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"))
  }
  if (name.length > maxManagedBy) yield field.tooLong(path, maxManagedBy)
}

function* validateCompletionMode(spec: Decoded<JobSpec>, path: field.Path): Findings {
  const mode = spec.completionMode
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed')
    yield field.notSupported(path.child('completionMode'), mode, ['NonIndexed', 'Indexed'])
  const { completions, parallelism, maxFailedIndexes } = spec
  if (mode === 'Indexed') {
    if (completions === undefined)
      yield field.required(path.child('completions'), 'when completion mode is Indexed')
    if (numberOf(parallelism) > indexedLimit) {
      const message = `must be less than or equal to ${indexedLimit} when completion mode is Indexed`
      yield field.invalid(path.child('parallelism'), parallelism, message)
    }
    const failedPath = path.child('maxFailedIndexes')
    if (completions !== undefined && numberOf(maxFailedIndexes) > numberOf(completions))
      yield field.invalid(failedPath, maxFailedIndexes, 'must be less than or equal to completions')
    if (numberOf(maxFailedIndexes) > indexedLimit)
      yield field.invalid(failedPath, maxFailedIndexes, `must be less than or equal to ${indexedLimit}`)
    if (numberOf(completions) > manyCompletions && spec.backoffLimitPerIndex !== undefined) {
      if (maxFailedIndexes === undefined)
        yield field.required(failedPath, `must be specified when completions is above ${manyCompletions}`)
      const message = `must be less than or equal to ${limitForMany} when completions are above ${manyCompletions} and used with backoff limit per index`
      if (numberOf(parallelism) > limitForMany)
        yield field.invalid(path.child('parallelism'), parallelism, message)
      if (numberOf(maxFailedIndexes) > limitForMany)
        yield field.invalid(failedPath, maxFailedIndexes, message)
    }
  } else if (mode === undefined || mode === 'NonIndexed') {
    for (const member of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[member] !== undefined)
        yield field.invalid(path.child(member), spec[member], 'requires indexed completion mode')
    }
  }
}

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']
const maxRules = 20
const maxExitCodes = 255
/** As Go prints a list of strings with `%q`. */
const quoteAll = (values: readonly string[]): string =>
  `[${values.map(value => JSON.stringify(value)).join(' ')}]`

function* validateFailurePolicy(spec: Decoded<JobSpec>, path: field.Path): Findings {
  const rules = spec.podFailurePolicy?.rules ?? []
  const podSpec = spec.template?.spec ?? {}
  const names = new Set(
    [...(podSpec.containers ?? []), ...(podSpec.initContainers ?? [])].map(({ name }) => name ?? ''),
  )
  if (rules.length > maxRules) yield field.tooMany(path.child('rules'), rules.length, maxRules)
  for (const [index, rule] of rules.entries()) {
    const at = path.child('rules').index(index)
    const action = rule.action ?? ''
    if (action === '') yield field.required(at.child('action'), `valid values: ${quoteAll(actions)}`)
    else if (action === 'FailIndex') {
      if (spec.backoffLimitPerIndex === undefined)
        yield field.invalid(at.child('action'), action, 'requires the backoffLimitPerIndex to be set')
    } else if (!actions.includes(action)) yield field.notSupported(at.child('action'), action, actions)
    const patterns = rule.onPodConditions ?? []
    const byCode = rule.onExitCodes
    if (byCode) yield* validateExitCodes(rule.onExitCodes ?? {}, names, at.child('onExitCodes'))
    yield* validateConditionPatterns(patterns, at.child('onPodConditions'))
    if (byCode && patterns.length > 0) {
      const message = 'specifying both OnExitCodes and OnPodConditions is not supported'
      yield field.invalid(at, field.omitValue, message)
    }
    if (!byCode && patterns.length === 0) {
      const message = 'specifying one of OnExitCodes and OnPodConditions is required'
      yield field.invalid(at, field.omitValue, message)
    }
  }
}

function* validateConditionPatterns(
  patterns: readonly Decoded<PodFailurePolicyOnPodConditionsPattern>[],
  path: field.Path,
): Findings {
  if (patterns.length > maxRules) yield field.tooMany(path, patterns.length, maxRules)
  for (const [index, pattern] of patterns.entries()) {
    const at = path.index(index)
    const status = pattern.status ?? ''
    yield* validateQualifiedName(pattern.type ?? '', at.child('type'))
    if (status === '') yield field.required(at.child('status'), `valid values: ${quoteAll(statuses)}`)
    else if (!statuses.includes(status)) yield field.notSupported(at.child('status'), status, statuses)
  }
}

function* validateExitCodes(
  codes: Decoded<PodFailurePolicyOnExitCodesRequirement>,
  names: ReadonlySet<string>,
  path: field.Path,
): Findings {
  const operator = codes.operator ?? ''
  const values = Array.isArray(codes.values) ? (codes.values as number[]) : []
  if (operator === '') yield field.required(path.child('operator'), `valid values: ${quoteAll(operators)}`)
  else if (!operators.includes(operator))
    yield field.notSupported(path.child('operator'), operator, operators)
  if (codes.containerName !== undefined && !names.has(codes.containerName ?? '')) {
    const message = 'must be one of the container or initContainer names in the pod template'
    yield field.invalid(path.child('containerName'), codes.containerName, message)
  }
  const at = path.child('values')
  if (values.length === 0) yield field.invalid(at, codes.values ?? null, 'at least one value is required')
  else if (values.length > maxExitCodes) yield field.tooMany(at, values.length, maxExitCodes)
  const seen = new Set<number>()
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      yield field.invalid(at.index(index), value, 'must not be 0 for the In operator')
    if (seen.has(value)) yield field.duplicate(at.index(index), value)
    seen.add(value)
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value))
    yield field.invalid(at, printed(values), 'must be ordered')
}

const maxIndexesText = 64 * 1024

function* validateSuccessPolicy(spec: Decoded<JobSpec>, path: field.Path): Findings {
  const policy = spec.successPolicy ?? {}
  if (spec.completionMode !== 'Indexed') {
    yield field.invalid(
      path,
      printed(goValue('batch.SuccessPolicy', policy)),
      'requires indexed completion mode',
    )
    return
  }
  const rules = policy.rules ?? []
  const at = path.child('rules')
  if (rules.length === 0)
    yield field.required(at, 'at least one rules must be specified when the successPolicy is specified')
  if (rules.length > maxRules) yield field.tooMany(at, rules.length, maxRules)
  for (const [index, rule] of rules.entries())
    yield* validateSuccessRule(rule, numberOf(spec.completions), at.index(index))
}

function* validateSuccessRule(
  rule: Decoded<SuccessPolicyRule>,
  completions: number,
  path: field.Path,
): Findings {
  const { succeededCount, succeededIndexes } = rule
  if (succeededCount === undefined && succeededIndexes === undefined)
    yield field.required(path, 'at least one of succeededCount or succeededIndexes must be specified')
  let total = 0
  if (succeededIndexes !== undefined) {
    const at = path.child('succeededIndexes')
    const text = succeededIndexes ?? ''
    if (text.length > maxIndexesText) yield field.tooLong(at, maxIndexesText)
    const counted = countIndexes(text, completions)
    if (typeof counted === 'string')
      yield field.invalid(at, text, `error parsing succeededIndexes: ${counted}`)
    else total = counted
  }
  if (succeededCount === undefined) return
  const count = numberOf(succeededCount)
  const at = path.child('succeededCount')
  yield* validateNonnegatives(rule, ['succeededCount'], path)
  if (count > completions) {
    const message = `must be less than or equal to ${completions} (the number of specified completions)`
    yield field.invalid(at, count, message)
  }
  if (succeededIndexes !== undefined && count > total) {
    const message = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`
    yield field.invalid(at, count, message)
  }
}

function* validateReplacementPolicy(spec: Decoded<JobSpec>, path: field.Path): Findings {
  const policy = spec.podReplacementPolicy
  if (policy === undefined) return
  const supported = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  if (!supported.includes(policy ?? '')) yield field.notSupported(path, policy, supported)
}

/** The Pods of a Job cannot be restarted always. */
function* validateRestartPolicy(spec: Decoded<JobSpec>, path: field.Path): Findings {
  const policy = spec.template?.spec?.restartPolicy ?? ''
  if (policy === 'Always' || policy === '') yield field.required(path, 'valid values: "OnFailure", "Never"')
  else if (policy !== 'OnFailure' && policy !== 'Never')
    yield field.notSupported(path, policy, ['OnFailure', 'Never'])
  else if (spec.podFailurePolicy && policy !== 'Never')
    yield field.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')
}
