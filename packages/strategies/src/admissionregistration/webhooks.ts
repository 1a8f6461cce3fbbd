import type { MutatingWebhook, MutatingWebhookConfiguration } from '@coxswain/api/admissionregistration/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { isDNS1035Label, isDNS1123Subdomain, validateLabelSelector } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, countCell, nameCell } from '../shared/cells.ts'
import { childOf } from '../shared/members.ts'
import { type Findings, invalidBecause, numberOf } from '../shared/reading.ts'
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

/** The versions of AdmissionReview that this server sends. */
const reviewVersions = ['v1', 'v1beta1']
const harmless = ['None', 'NoneOnDryRun']
const sideEffectClasses = ['None', 'NoneOnDryRun', 'Some', 'Unknown']

type WebhookType = 'mutating' | 'validating'

/** The rules of both kinds of webhook configuration; a mutating one has one field more. */
export function createWebhookStrategy(type: WebhookType): Strategy {
  return defineStrategy<MutatingWebhookConfiguration>({
    generation: true,
    unconditionalUpdate: false,
    plainFinalizers: true,
    default: object => defaultWebhooks(object, type),
    validate: (object, _context, old) => validateWebhooks(object, old),
    warnings: warnAboutReservedName,
    cells: (object, now) => ({
      Name: nameCell(object),
      Webhooks: countCell(object.webhooks),
      Age: ageCell(object, now),
    }),
  })
}

function defaultWebhooks(object: Decoded<MutatingWebhookConfiguration>, type: WebhookType): void {
  for (const hook of object.webhooks ?? []) {
    hook.failurePolicy ??= 'Fail'
    hook.matchPolicy ??= 'Equivalent'
    childOf(hook, 'namespaceSelector')
    childOf(hook, 'objectSelector')
    hook.timeoutSeconds ??= 10
    if (type === 'mutating') hook.reinvocationPolicy ??= 'Never'
    defaultRules(hook.rules)
    defaultClientConfig(hook.clientConfig)
  }
}

/** Which rules stored objects that break them may keep breaking. */
interface Rules {
  readonly requireHarmless: boolean
  readonly requireKnownVersion: boolean
  readonly requireUniqueNames: boolean
  readonly allowInvalidLabelValue: boolean
  readonly ignoreConditions: boolean
}

function rulesFor(
  hooks: readonly Decoded<MutatingWebhook>[],
  old: Decoded<MutatingWebhookConfiguration> | undefined,
): Rules {
  const before = old?.webhooks ?? []
  const names = before.map(hook => hook.name)
  return {
    requireHarmless: before.every(hook => harmless.includes(hook.sideEffects ?? '')),
    requireKnownVersion: before.every(hook => {
      const versions = hook.admissionReviewVersions ?? []
      return versions.length === 0 || versions.some(version => reviewVersions.includes(version))
    }),
    requireUniqueNames: new Set(names).size === names.length,
    allowInvalidLabelValue: before.some(
      hook => [...validateSelectors(hook, field.Path.root, false)].length > 0,
    ),
    ignoreConditions: old !== undefined && haveSameConditions(hooks, before),
  }
}

function* validateWebhooks(
  object: Decoded<MutatingWebhookConfiguration>,
  old: Decoded<MutatingWebhookConfiguration> | undefined,
): Findings {
  const hooks = object.webhooks ?? []
  const rules = rulesFor(hooks, old)
  const names = new Set<string>()
  for (const [index, hook] of hooks.entries()) {
    const path = field.Path.of('webhooks').index(index)
    const name = hook.name ?? ''
    yield* validateWebhook(hook, path, rules)
    yield* validateReviewVersions(
      hook.admissionReviewVersions ?? [],
      path.child('admissionReviewVersions'),
      rules,
    )
    if (!rules.requireUniqueNames || name === '') continue
    if (names.has(name)) yield field.duplicate(path.child('name'), name)
    names.add(name)
  }
}

function* validateWebhook(hook: Decoded<MutatingWebhook>, path: field.Path, rules: Rules): Findings {
  yield* validateFullyQualifiedName(hook.name ?? '', path.child('name'))
  for (const [index, rule] of (hook.rules ?? []).entries())
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
  yield* validateClientConfig(hook.clientConfig ?? {}, path.child('clientConfig'))
  if (!rules.ignoreConditions)
    yield* validateMatchConditions(hook.matchConditions, path.child('matchConditions'))
}

function* validateSelectors(
  hook: Decoded<MutatingWebhook>,
  path: field.Path,
  allowInvalidLabelValue: boolean,
): Findings {
  for (const name of ['namespaceSelector', 'objectSelector'] as const)
    yield* validateLabelSelector(hook[name] as LabelSelector | undefined, path.child(name), {
      allowInvalidLabelValue,
    })
}

function* validateSupported(
  value: string | null | undefined,
  supported: readonly string[],
  path: field.Path,
): Findings {
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
