import type {
  CrossVersionObjectReference,
  ExternalMetricSource,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricSpec,
  MetricTarget,
} from '@coxswain/api/autoscaling/v2'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import * as field from '@coxswain/apimachinery/field'
import { parseGroupVersion } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isValidPathSegmentName } from '@coxswain/apimachinery/validation'
import { validateContainerResourceName } from '../core/pod/validation/resources.ts'
import type { Decoded } from '../decoded.ts'
import { type Findings, invalidBecause, numberOf, validateDNSLabel } from '../shared/reading.ts'

const sourceTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
/** The field that goes with each type, in the order of validation. */
const sourceFields = [
  ['object', 'Object'],
  ['external', 'External'],
  ['pods', 'Pods'],
  ['resource', 'Resource'],
  ['containerResource', 'ContainerResource'],
] as const
type SourceField = (typeof sourceFields)[number][0]
const targetTypes = ['Utilization', 'Value', 'AverageValue']
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']
const maxStabilization = 3600
const maxPeriod = 1800

export function* validateSpec(spec: Decoded<HorizontalPodAutoscalerSpec>, path: field.Path): Findings {
  const min = spec.minReplicas === undefined ? undefined : numberOf(spec.minReplicas)
  const max = numberOf(spec.maxReplicas)
  const maxPath = path.child('maxReplicas')
  if (min !== undefined && min < 1)
    yield field.invalid(path.child('minReplicas'), min, 'must be greater than or equal to 1')
  if (max === 0) yield field.required(maxPath, 'must be set and greater than 0')
  else if (max < 0) yield field.invalid(maxPath, max, 'must be greater than or equal to 1')
  if (min !== undefined && max < min)
    yield field.invalid(maxPath, max, 'must be greater than or equal to `minReplicas`')
  const target = spec.scaleTargetRef ?? {}
  const group = target.kind === 'ReplicationController' ? 'optional' : 'required'
  yield* validateReference(target, path.child('scaleTargetRef'), group)
  yield* validateMetrics(spec.metrics ?? [], min, path.child('metrics'))
  for (const direction of ['scaleUp', 'scaleDown'] as const) {
    const rules = spec.behavior?.[direction]
    if (rules) yield* validateRules(rules, path.child('behavior', direction))
  }
}

type GroupRule = 'required' | 'optional'

function* validateReference(
  reference: Decoded<CrossVersionObjectReference>,
  path: field.Path,
  groupRule: GroupRule,
): Findings {
  for (const member of ['kind', 'name'] as const) {
    const value = reference[member] ?? ''
    if (value === '') yield field.required(path.child(member))
    else yield* invalidBecause(path.child(member), value, isValidPathSegmentName(value))
  }
  const apiVersion = reference.apiVersion ?? ''
  const problem = describeVersionProblem(apiVersion, groupRule)
  if (problem !== undefined) yield field.invalid(path.child('apiVersion'), apiVersion, problem)
}

function describeVersionProblem(apiVersion: string, groupRule: GroupRule): string | undefined {
  try {
    const { group } = parseGroupVersion(apiVersion)
    return group === '' && groupRule === 'required' ? 'apiVersion must specify API group' : undefined
  } catch (error) {
    if (isMachineryError(error)) return error.message
    throw error
  }
}

function* validateMetrics(
  metrics: readonly Decoded<MetricSpec>[],
  min: number | undefined,
  path: field.Path,
): Findings {
  for (const [index, metric] of metrics.entries()) yield* validateMetric(metric, path.index(index))
  if (min === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const message = 'must specify at least one Object or External metric to support scaling to zero replicas'
    yield field.forbidden(path, message)
  }
}

function* validateMetric(metric: Decoded<MetricSpec>, path: field.Path): Findings {
  const type = metric.type ?? ''
  const typePath = path.child('type')
  if (type === '') yield field.required(typePath, 'must specify a metric source type')
  const isKnown = sourceTypes.includes(type)
  if (!isKnown) yield field.notSupported(typePath, type, sourceTypes)
  const present: SourceField[] = []
  for (const [name] of sourceFields) {
    const source = metric[name]
    if (!source) continue
    if (present.length === 0) yield* validateSource(name, source, path.child(name))
    present.push(name)
  }
  const expected = sourceFields.find(([, of]) => of === type)?.[0]
  if (expected === undefined) yield field.notSupported(typePath, type, sourceTypes)
  else if (!metric[expected])
    yield field.required(path.child(expected), 'must populate information for the given metric source')
  if (present.length === 1) return
  for (const name of present) {
    if (name !== expected)
      yield field.forbidden(path.child(name), 'must populate the given metric source only')
  }
}

type Sources = { readonly [K in SourceField]: Decoded<NonNullable<MetricSpec[K]>> }

function validateSource<K extends SourceField>(type: K, source: Sources[K], path: field.Path): Findings {
  return sourceRules[type](source, path)
}

type SourceRules = { readonly [K in SourceField]: (source: Sources[K], path: field.Path) => Findings }

const sourceRules: SourceRules = {
  object: function* (source, path) {
    yield* validateReference(source.describedObject ?? {}, path.child('describedObject'), 'optional')
    const target = yield* validateIdentified(source, path)
    if (target.value === undefined && target.averageValue === undefined)
      yield field.required(
        path.child('target', 'averageValue'),
        'must set either a target value or averageValue',
      )
  },
  external: function* (source, path) {
    const target = yield* validateIdentified(source, path)
    const hasValue = target.value !== undefined
    const hasAverage = target.averageValue !== undefined
    if (!hasValue && !hasAverage) {
      const message = 'must set either a target value for metric or a per-pod target'
      yield field.required(path.child('target', 'averageValue'), message)
    }
    if (hasValue && hasAverage) {
      const message = 'may not set both a target value for metric and a per-pod target'
      yield field.forbidden(path.child('target', 'value'), message)
    }
  },
  pods: function* (source, path) {
    const target = yield* validateIdentified(source, path)
    if (target.averageValue === undefined)
      yield field.required(
        path.child('target', 'averageValue'),
        'must specify a positive target averageValue',
      )
  },
  resource: function* (source, path) {
    if (!source.name) yield field.required(path.child('name'), 'must specify a resource name')
    yield* validateResourceTarget(source.target ?? {}, path.child('target'))
  },
  containerResource: function* (source, path) {
    const name = source.name ?? ''
    if (name === '') yield field.required(path.child('name'), 'must specify a resource name')
    else yield* validateContainerResourceName(name, path.child('name'))
    const container = source.container ?? ''
    if (container === '') yield field.required(path.child('container'), 'must specify a container')
    else yield* validateDNSLabel(container, path.child('container'))
    yield* validateResourceTarget(source.target ?? {}, path.child('target'))
  },
}

function* validateIdentified(
  source: Decoded<ExternalMetricSource>,
  path: field.Path,
): Generator<field.FieldError, Decoded<MetricTarget>, undefined> {
  const name = source.metric?.name ?? ''
  const namePath = path.child('metric', 'name')
  if (name === '') yield field.required(namePath, 'must specify a metric name')
  else yield* invalidBecause(namePath, name, isValidPathSegmentName(name))
  const target = source.target ?? {}
  yield* validateTarget(target, path.child('target'))
  return target
}

function* validateTarget(target: Decoded<MetricTarget>, path: field.Path): Findings {
  const type = target.type ?? ''
  if (type === '') yield field.required(path.child('type'), 'must specify a metric target type')
  if (!targetTypes.includes(type))
    yield field.invalid(path.child('type'), type, 'must be either Utilization, Value, or AverageValue')
  for (const member of ['value', 'averageValue'] as const) {
    const value = target[member]
    if (value !== undefined && parseQuantity(value).sign <= 0)
      yield field.invalid(path.child(member), value, 'must be positive')
  }
  const utilization = target.averageUtilization
  if (utilization !== undefined && numberOf(utilization) < 1)
    yield field.invalid(path.child('averageUtilization'), utilization, 'must be greater than 0')
}

function* validateResourceTarget(target: Decoded<MetricTarget>, path: field.Path): Findings {
  yield* validateTarget(target, path)
  const hasUtilization = target.averageUtilization !== undefined
  const hasValue = target.averageValue !== undefined
  if (!hasUtilization && !hasValue) {
    const message = 'must set either a target raw value or a target utilization'
    yield field.required(path.child('averageUtilization'), message)
  }
  if (hasUtilization && hasValue) {
    const message = 'may not set both a target raw value and a target utilization'
    yield field.forbidden(path.child('averageValue'), message)
  }
}

function* validateRules(rules: Decoded<HPAScalingRules>, path: field.Path): Findings {
  const window = rules.stabilizationWindowSeconds
  const windowPath = path.child('stabilizationWindowSeconds')
  if (window !== undefined && numberOf(window) < 0)
    yield field.invalid(windowPath, window, 'must be greater than or equal to zero')
  if (window !== undefined && numberOf(window) > maxStabilization)
    yield field.invalid(windowPath, window, `must be less than or equal to ${maxStabilization}`)
  const select = rules.selectPolicy
  if (select !== undefined && !selectPolicies.includes(select))
    yield field.notSupported(path.child('selectPolicy'), select, selectPolicies)
  const policies = rules.policies ?? []
  if (policies.length === 0) yield field.required(path.child('policies'), 'must specify at least one Policy')
  for (const [index, policy] of policies.entries())
    yield* validatePolicy(policy, path.child('policies').index(index))
  const { tolerance } = rules
  if (tolerance !== undefined && parseQuantity(tolerance).sign < 0)
    yield field.invalid(path.child('tolerance'), tolerance, 'must be greater than or equal to 0')
}

function* validatePolicy(policy: Decoded<HPAScalingPolicy>, path: field.Path): Findings {
  const type = policy.type ?? ''
  if (!policyTypes.includes(type)) yield field.notSupported(path.child('type'), type, policyTypes)
  const value = numberOf(policy.value)
  if (value <= 0) yield field.invalid(path.child('value'), value, 'must be greater than zero')
  const period = numberOf(policy.periodSeconds)
  if (period <= 0) yield field.invalid(path.child('periodSeconds'), period, 'must be greater than zero')
  if (period > maxPeriod)
    yield field.invalid(path.child('periodSeconds'), period, `must be less than or equal to ${maxPeriod}`)
}
