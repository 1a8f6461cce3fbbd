import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, listOf, objectOf, printed, recordOf, stringsOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { isHugePages, validateResourceName, validateResourceQuantity } from './pod/validation/resources.ts'

const computed = ['cpu', 'memory', 'ephemeral-storage']
const quotaResources = new Set([
  ...computed,
  ...computed.map(name => `requests.${name}`),
  ...computed.map(name => `limits.${name}`),
  'requests.storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
])
const podResources = ['cpu', 'memory'].flatMap(name => [name, `limits.${name}`, `requests.${name}`])
const podScope: ReadonlySet<string> = new Set(['pods', ...podResources])

/** The resources that a scope can be applied to. */
const scopes: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    Terminating: podScope,
    NotTerminating: podScope,
    NotBestEffort: podScope,
    BestEffort: new Set(['pods']),
    PriorityClass: podScope,
    CrossNamespacePodAffinity: podScope,
    VolumeAttributesClass: new Set(['persistentvolumeclaims', 'requests.storage']),
  }),
)
const existenceScopes = new Set([
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
])
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

export const resourceQuotaStrategy: Strategy = {
  returnsDeleted: true,
  validate: object => validateSpec(objectOf(object.spec), field.Path.of('spec')),
  validateUpdate: validateScopesKept,
  validateStatusUpdate: object => validateStatus(objectOf(object.status)),
  warnings: (object, old) => (old ? [] : warnAboutOrder(recordOf(objectOf(object.spec).hard))),
  cells: (object, now) => {
    const status = objectOf(object.status)
    const hard = recordOf(status.hard)
    const used = recordOf(status.used)
    const names = Object.keys(hard).sort()
    const print = (isLimit: boolean) =>
      names
        .filter(name => name.startsWith('limits.') === isLimit)
        .map(name => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
        .join(', ')
    return [nameCell(object), print(false), print(true), ageCell(object, now)]
  },
}

const isStandard = (name: string): boolean =>
  quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')

function* validateAmounts(amounts: Record<string, string>, path: field.Path): Findings {
  for (const [name, text] of Object.entries(amounts)) {
    const at = path.key(name)
    yield* validateResourceName(name, at)
    if (!name.includes('/') && !isStandard(name))
      yield field.invalid(at, name, 'must be a standard resource for quota')
    yield* validateResourceQuantity(name, parseQuantity(text), at)
  }
}

function* validateSpec(spec: JsonObject, path: field.Path): Findings {
  const hard = recordOf(spec.hard)
  yield* validateAmounts(hard, path.child('hard'))
  const names = Object.keys(hard).filter(isStandard).sort()
  yield* validateScopes(stringsOf(spec.scopes), names, path.child('scopes'))
  if (spec.scopeSelector !== undefined)
    yield* validateSelector(objectOf(spec.scopeSelector), spec, names, path.child('scopeSelector'))
}

function* validateScopes(given: readonly string[], names: readonly string[], path: field.Path): Findings {
  for (const scope of given) {
    const known = scopes.get(scope)
    if (!known) yield field.invalid(path, given, 'unsupported scope')
    else
      for (const name of names)
        if (!known.has(name)) yield field.invalid(path, given, 'unsupported scope applied to resource')
  }
  if (areOpposite(given)) yield field.invalid(path, given, 'conflicting scopes')
}

const areOpposite = (given: readonly string[]): boolean =>
  opposites.some(pair => pair.every(scope => given.includes(scope)))

function* validateSelector(
  selector: JsonObject,
  spec: JsonObject,
  names: readonly string[],
  selectorPath: field.Path,
): Findings {
  const path = selectorPath.child('matchExpressions')
  const expressions = listOf(selector.matchExpressions)
  const shown = goSelector(expressions)
  for (const expression of expressions) {
    const scope = textOf(expression.scopeName)
    const operator = textOf(expression.operator)
    const values = stringsOf(expression.values)
    const known = scopes.get(scope)
    if (!known) yield field.invalid(path.child('scopeName'), scope, 'unsupported scope')
    else
      for (const name of names)
        if (!known.has(name)) yield field.invalid(path, shown, 'unsupported scope applied to resource')
    if (existenceScopes.has(scope) && operator !== 'Exists') {
      const message =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
      yield field.invalid(path.child('operator'), operator, message)
    }
    yield* validateOperator(operator, values, path)
  }
  if (areOpposite(expressions.map(({ scopeName }) => textOf(scopeName))))
    yield field.invalid(path, spec.scopes ?? null, 'conflicting scopes')
}

function* validateOperator(operator: string, values: readonly string[], path: field.Path): Findings {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      const message = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
      yield field.required(path.child('values'), message)
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      const message = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
      yield field.invalid(path.child('values'), values, message)
    }
  } else {
    yield field.invalid(path.child('operator'), operator, 'not a valid selector operator')
  }
}

/** Upstream prints its internal type, which has Go's member names. */
function goSelector(expressions: readonly JsonObject[]): field.Printed {
  const MatchExpressions = expressions.map(({ scopeName, operator, values }) => ({
    ScopeName: textOf(scopeName),
    Operator: textOf(operator),
    Values: values ?? null,
  }))
  return printed({ MatchExpressions })
}

function validateScopesKept(object: JsonObject, old: JsonObject): FieldError[] {
  const scopesOf = (of: JsonObject) => objectOf(of.spec).scopes
  const key = (of: JsonObject) => [...new Set(stringsOf(scopesOf(of)))].sort().join(' ')
  if (key(object) === key(old)) return []
  return [field.invalid(field.Path.of('spec', 'scopes'), scopesOf(object) ?? null, 'field is immutable')]
}

function* validateStatus(status: JsonObject): Findings {
  yield* validateAmounts(recordOf(status.hard), field.Path.of('status', 'hard'))
  yield* validateAmounts(recordOf(status.used), field.Path.of('status', 'used'))
}

function warnAboutOrder(hard: Record<string, string>): string[] {
  const warnings: string[] = []
  for (const name of ['cpu', 'memory', 'storage', 'ephemeral-storage']) {
    let requestName = `requests.${name}`
    if (hard[requestName] === undefined && (name === 'cpu' || name === 'memory')) requestName = name
    const request = hard[requestName]
    const limit = hard[`limits.${name}`]
    if (request === undefined || limit === undefined) continue
    if (parseQuantity(request).compare(parseQuantity(limit)) > 0)
      warnings.push(`ResourceQuota ${requestName} (${request}) should be less than limits.${name} (${limit})`)
  }
  return warnings
}
