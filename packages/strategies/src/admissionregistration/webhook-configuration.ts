import * as field from '@coxswain/apimachinery/field'
import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { isDNS1035Label, isDNS1123Subdomain, validateLabelSelector } from '@coxswain/apimachinery/validation'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  objectOf,
  stringsOf,
  textOf,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { haveSameConditions, validateMatchConditions } from './match-conditions.ts'
import {
  defaultRules,
  failurePolicies,
  matchPolicies,
  reinvocationPolicies,
  validateRuleWithOperations,
  warnAboutReservedName,
} from './rules.ts'
import { defaultClientConfig, validateClientConfig } from './webhook-client.ts'

/** What this server can ask a webhook about. */
const reviewVersions = ['v1', 'v1beta1']
const harmless = ['None', 'NoneOnDryRun']
const sideEffectClasses = ['None', 'NoneOnDryRun', 'Some', 'Unknown']

export const mutatingWebhookConfigurationStrategy: Strategy = createStrategy(true)
export const validatingWebhookConfigurationStrategy: Strategy = createStrategy(false)

function createStrategy(mutating: boolean): Strategy {
  return {
    generation: true,
    unconditionalUpdate: false,
    plainFinalizers: true,
    default: object => defaultWebhooks(object, mutating),
    validate: (object, _context, old) => validateWebhooks(object, old),
    warnings: warnAboutReservedName,
    cells: (object, now) => [nameCell(object), countCell(object.webhooks), ageCell(object, now)],
  }
}

function defaultWebhooks(object: JsonObject, mutating: boolean): void {
  for (const hook of listOf(object.webhooks)) {
    hook.failurePolicy ??= 'Fail'
    hook.matchPolicy ??= 'Equivalent'
    childObject(hook, 'namespaceSelector')
    childObject(hook, 'objectSelector')
    hook.timeoutSeconds ??= 10
    if (mutating) hook.reinvocationPolicy ??= 'Never'
    defaultRules(hook.rules)
    defaultClientConfig(hook.clientConfig)
  }
}

/** What stored objects that do not keep to today's rules may go on with. */
interface Rules {
  readonly requireHarmless: boolean
  readonly requireKnownVersion: boolean
  readonly requireUniqueNames: boolean
  readonly allowInvalidLabelValue: boolean
  readonly ignoreConditions: boolean
}

function rulesFor(hooks: readonly JsonObject[], old: JsonObject | undefined): Rules {
  const before = listOf(old?.webhooks)
  const names = before.map(hook => hook.name)
  return {
    requireHarmless: before.every(hook => harmless.includes(textOf(hook.sideEffects))),
    requireKnownVersion: before.every(hook => {
      const versions = stringsOf(hook.admissionReviewVersions)
      return versions.length === 0 || versions.some(version => reviewVersions.includes(version))
    }),
    requireUniqueNames: new Set(names).size === names.length,
    allowInvalidLabelValue: before.some(
      hook => [...validateSelectors(hook, field.Path.root, false)].length > 0,
    ),
    ignoreConditions: old !== undefined && haveSameConditions(hooks, before),
  }
}

function* validateWebhooks(object: JsonObject, old: JsonObject | undefined): Findings {
  const hooks = listOf(object.webhooks)
  const rules = rulesFor(hooks, old)
  const names = new Set<string>()
  for (const [index, hook] of hooks.entries()) {
    const path = field.Path.of('webhooks').index(index)
    const name = textOf(hook.name)
    yield* validateWebhook(hook, path, rules)
    yield* validateReviewVersions(
      stringsOf(hook.admissionReviewVersions),
      path.child('admissionReviewVersions'),
      rules,
    )
    if (!rules.requireUniqueNames || name === '') continue
    if (names.has(name)) yield field.duplicate(path.child('name'), name)
    names.add(name)
  }
}

function* validateWebhook(hook: JsonObject, path: field.Path, rules: Rules): Findings {
  yield* validateFullyQualifiedName(textOf(hook.name), path.child('name'))
  for (const [index, rule] of listOf(hook.rules).entries())
    yield* validateRuleWithOperations(rule, path.child('rules').index(index))
  yield* validateSupported(hook.failurePolicy, failurePolicies, path.child('failurePolicy'))
  yield* validateSupported(hook.matchPolicy, matchPolicies, path.child('matchPolicy'))
  const allowed = rules.requireHarmless ? harmless : sideEffectClasses
  if (typeof hook.sideEffects !== 'string')
    yield field.required(path.child('sideEffects'), `must specify one of ${allowed.join(', ')}`)
  yield* validateSupported(hook.sideEffects, allowed, path.child('sideEffects'))
  const timeout = numberOf(hook.timeoutSeconds)
  if (timeout > 30 || timeout < 1)
    yield field.invalid(
      path.child('timeoutSeconds'),
      timeout,
      'the timeout value must be between 1 and 30 seconds',
    )
  yield* validateSelectors(hook, path, rules.allowInvalidLabelValue)
  yield* validateSupported(hook.reinvocationPolicy, reinvocationPolicies, path.child('reinvocationPolicy'))
  yield* validateClientConfig(objectOf(hook.clientConfig), path.child('clientConfig'))
  if (!rules.ignoreConditions)
    yield* validateMatchConditions(hook.matchConditions, path.child('matchConditions'))
}

function* validateSelectors(hook: JsonObject, path: field.Path, allowInvalidLabelValue: boolean): Findings {
  for (const name of ['namespaceSelector', 'objectSelector'])
    yield* validateLabelSelector(hook[name] as LabelSelector | undefined, path.child(name), {
      allowInvalidLabelValue,
    })
}

function* validateSupported(value: unknown, supported: readonly string[], path: field.Path): Findings {
  if (typeof value === 'string' && !supported.includes(value))
    yield field.notSupported(path, value, supported)
}

/** A DNS subdomain of at least three parts. */
function* validateFullyQualifiedName(name: string, path: field.Path): Findings {
  if (name === '') {
    yield field.required(path)
    return
  }
  const wrong = isDNS1123Subdomain(name)
  if (wrong.length > 0) yield field.invalid(path, name, wrong.join(','))
  else if (name.split('.').length < 3)
    yield field.invalid(path, name, 'should be a domain with at least three segments separated by dots')
}

function* validateReviewVersions(versions: readonly string[], path: field.Path, rules: Rules): Findings {
  if (versions.length === 0) {
    yield field.required(path, `must specify one of ${reviewVersions.join(', ')}`)
    return
  }
  const seen = new Set<string>()
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) {
      yield field.invalid(path.index(index), version, 'duplicate version')
      continue
    }
    seen.add(version)
    yield* invalidBecause(path.index(index), version, isDNS1035Label(version))
  }
  if (rules.requireKnownVersion && !versions.some(version => reviewVersions.includes(version)))
    yield field.invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`)
}
