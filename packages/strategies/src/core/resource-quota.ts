import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ResourceQuotaStatus,
  ScopedResourceSelectorRequirement,
  ScopeSelector,
} from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isHugePages } from '@coxswain/kinds'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { validateResourceName, validateResourceQuantity } from './pod/validation/resources.ts'

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

export const resourceQuotaStrategy: Strategy = defineStrategy<ResourceQuota>({
  returnsDeleted: true,
  validate: object => validateSpec(object.spec ?? {}, field.Path.of('spec')),
  validateUpdate: validateScopesKept,
  validateStatusUpdate: object => validateStatus(object.status ?? {}),
  warnings: (object, old) => (old ? [] : warnAboutOrder(object.spec?.hard ?? {})),
  cells: (object, now) => {
    const status = object.status ?? {}
    const hard = status.hard ?? {}
    const used = status.used ?? {}
    const names = Object.keys(hard).sort()
    const print = (isLimit: boolean) =>
      names
        .filter(name => name.startsWith('limits.') === isLimit)
        .map(name => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
        .join(', ')
    return { Name: nameCell(object), Request: print(false), Limit: print(true), Age: ageCell(object, now) }
  },
})

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

function* validateSpec(spec: Decoded<ResourceQuotaSpec>, path: field.Path): Findings {
  const hard = spec.hard ?? {}
  yield* validateAmounts(hard, path.child('hard'))
  const names = Object.keys(hard).filter(isStandard).sort()
  yield* validateScopes(spec.scopes ?? [], names, path.child('scopes'))
  if (spec.scopeSelector !== undefined)
    yield* validateSelector(spec.scopeSelector ?? {}, spec, names, path.child('scopeSelector'))
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
  selector: Decoded<ScopeSelector>,
  spec: Decoded<ResourceQuotaSpec>,
  names: readonly string[],
  selectorPath: field.Path,
): Findings {
  const path = selectorPath.child('matchExpressions')
  const expressions = selector.matchExpressions ?? []
  const shown = goSelector(expressions)
  for (const expression of expressions) {
    const scope = expression.scopeName ?? ''
    const operator = expression.operator ?? ''
    const values = expression.values ?? []
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
  if (areOpposite(expressions.map(({ scopeName }) => scopeName ?? '')))
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

function goSelector(matchExpressions: readonly Decoded<ScopedResourceSelectorRequirement>[]): field.Printed {
  return printed(goValue('core.ScopeSelector', { matchExpressions }))
}

function validateScopesKept(object: Decoded<ResourceQuota>, old: Decoded<ResourceQuota>): FieldError[] {
  const scopesOf = (of: Decoded<ResourceQuota>) => of.spec?.scopes
  const key = (of: Decoded<ResourceQuota>) => [...new Set(scopesOf(of) ?? [])].sort().join(' ')
  if (key(object) === key(old)) return []
  return [field.invalid(field.Path.of('spec', 'scopes'), scopesOf(object) ?? null, 'field is immutable')]
}

function* validateStatus(status: Decoded<ResourceQuotaStatus>): Findings {
  yield* validateAmounts(status.hard ?? {}, field.Path.of('status', 'hard'))
  yield* validateAmounts(status.used ?? {}, field.Path.of('status', 'used'))
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
