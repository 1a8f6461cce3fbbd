import type { MetricSpec, MetricStatus, MetricValueStatus } from '@coxswain/api/autoscaling/v2'
import type { DeepReadonly, LabelSelector } from '@coxswain/apimachinery/meta'
import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import type { MetricsClient } from './metrics-client.ts'
import {
  type Calculation,
  replicasForAverage,
  replicasForShare,
  replicasForUtilization,
  replicasForValue,
  type Situation,
} from './replica-calculation.ts'

export interface Proposal {
  readonly replicas: number
  /** For conditions and events. */
  readonly metric: string
  readonly status: MetricStatus
}

/** Why there is no proposal. */
export class MetricFailure extends Error {
  override readonly name = 'MetricFailure'
  /** Of the condition and the event. */
  readonly reason: string
  /** The message of the event, which is shorter than that of the condition. */
  readonly detail: string

  constructor(reason: string, detail: string, message: string) {
    super(message)
    this.reason = reason
    this.detail = detail
  }
}

export interface MetricContext {
  readonly metrics: MetricsClient
  readonly situation: Situation
  readonly namespace: string
  /** Of the target's pods. */
  readonly selector: string
  readonly statusReplicas: number
  /** The resource of a metric's object, for example `deployments.apps`. */
  readonly resourceOf: (apiVersion: string, kind: string) => Promise<string>
}

type Spec = DeepReadonly<MetricSpec>
type MetricSelector = NonNullable<NonNullable<Spec['pods']>['metric']['selector']>

/** The number of replicas that one metric proposes. @throws MetricFailure */
export async function proposeFor(context: MetricContext, spec: Spec): Promise<Proposal> {
  switch (spec.type) {
    case 'Resource':
      return await attempt('FailedGetResourceMetric', `${spec.resource?.name} resource metric`, () =>
        forResource(context, spec),
      )
    case 'ContainerResource':
      return await attempt(
        'FailedGetContainerResourceMetric',
        `${spec.containerResource?.container} container metric`,
        () => forResource(context, spec),
      )
    case 'Pods':
      return await attempt('FailedGetPodsMetric', 'pods metric', () => forPods(context, spec))
    case 'Object':
      return await attempt('FailedGetObjectMetric', 'object metric', () => forObject(context, spec))
    case 'External':
      return await attempt('FailedGetExternalMetric', `${spec.external?.metric.name} external metric`, () =>
        forExternal(context, spec),
      )
    default: {
      const message = `unknown metric source type "${spec.type}"`
      throw new MetricFailure('InvalidMetricSourceType', message, message)
    }
  }
}

async function attempt(reason: string, what: string, work: () => Promise<Proposal>): Promise<Proposal> {
  try {
    return await work()
  } catch (error) {
    const { message } = error as Error
    throw new MetricFailure(reason, message, `failed to get ${what} value: ${message}`)
  }
}

async function forResource(context: MetricContext, spec: Spec): Promise<Proposal> {
  const { metrics, situation, namespace, selector } = context
  const isContainer = spec.type === 'ContainerResource'
  const { name, target } = isContainer ? spec.containerResource! : spec.resource!
  const container = spec.containerResource?.container ?? ''
  const readMetric = async () => {
    try {
      return await metrics.resource(name, namespace, selector, container)
    } catch (error) {
      throw new Error(`unable to get metrics for resource ${name}: ${(error as Error).message}`)
    }
  }
  const prefixed = async (what: string, work: () => Promise<Calculation>) => {
    try {
      return await work()
    } catch (error) {
      throw new Error(`failed to get ${name} ${what}: ${(error as Error).message}`)
    }
  }
  let metric: string
  let result: Calculation
  if (target.averageValue !== undefined) {
    const wanted = milli(target.averageValue)
    result = await prefixed('usage', async () =>
      replicasForAverage(situation, await readMetric(), wanted, name),
    )
    metric = `${name} resource`
  } else if (target.averageUtilization !== undefined) {
    const goal = { resource: name, container, target: target.averageUtilization }
    result = await prefixed('utilization', async () =>
      replicasForUtilization(situation, await readMetric(), goal),
    )
    metric = `${name} ${isContainer ? 'container ' : ''}resource utilization (percentage of request)`
  } else {
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    )
  }
  const averageValue = Quantity.of(result.usage, {
    scale: -3,
    format: name === 'memory' ? 'BinarySI' : 'DecimalSI',
  })
  const current: MetricValueStatus = {
    averageValue: averageValue.toString(),
    ...(result.utilization !== undefined && { averageUtilization: result.utilization }),
  }
  const status = isContainer
    ? { type: spec.type, containerResource: { name, container, current } }
    : { type: spec.type, resource: { name, current } }
  return { replicas: result.replicas, metric, status }
}

async function forPods(
  { metrics, situation, namespace, selector }: MetricContext,
  spec: Spec,
): Promise<Proposal> {
  const { metric, target } = spec.pods!
  const values = await unableTo(`get metric ${metric.name}`, () =>
    metrics.pods(metric.name, namespace, selector, selectorText(metric.selector)),
  )
  const { replicas, usage } = replicasForAverage(situation, values, milli(target.averageValue ?? '0'))
  const status = { type: spec.type, pods: { metric, current: { averageValue: text(usage) } } } as MetricStatus
  return { replicas, metric: `pods metric ${metric.name}`, status }
}

async function forObject(context: MetricContext, spec: Spec): Promise<Proposal> {
  const { metrics, situation, namespace, statusReplicas, resourceOf } = context
  const { metric, target, describedObject } = spec.object!
  const { apiVersion = 'v1', kind, name } = describedObject
  const readMetric = async () => {
    try {
      const where = { namespace, name, resource: await resourceOf(apiVersion, kind) }
      return await metrics.object(metric.name, where, selectorText(metric.selector))
    } catch (error) {
      throw new Error(
        `unable to get metric ${metric.name}: ${kind} on ${namespace} ${name}/${(error as Error).message}`,
      )
    }
  }
  const statusOf = (current: MetricValueStatus) =>
    ({ type: spec.type, object: { describedObject, metric, current } }) as MetricStatus
  if (target.type === 'Value' && target.value !== undefined) {
    const { replicas, usage } = replicasForValue(situation, await readMetric(), milli(target.value))
    return { replicas, metric: `${kind} metric ${metric.name}`, status: statusOf({ value: text(usage) }) }
  }
  if (target.type === 'AverageValue' && target.averageValue !== undefined) {
    const { tolerances } = situation
    const { replicas, usage } = replicasForShare(
      statusReplicas,
      tolerances,
      await readMetric(),
      milli(target.averageValue),
    )
    return {
      replicas,
      metric: `external metric ${metric.name}(${describeSelector(metric.selector)})`,
      status: statusOf({ averageValue: text(usage) }),
    }
  }
  throw new Error('invalid object metric source: neither a value target nor an average value target was set')
}

async function forExternal(context: MetricContext, spec: Spec): Promise<Proposal> {
  const { metrics, situation, namespace, statusReplicas } = context
  const { metric, target } = spec.external!
  const described = describeSelector(metric.selector)
  const readMetric = async () => {
    const values = await unableTo(`get external metric ${namespace}/${metric.name}/${described}`, () =>
      metrics.external(metric.name, namespace, selectorText(metric.selector)),
    )
    return values.reduce((sum, value) => sum + value, 0)
  }
  const name = `external metric ${metric.name}(${described})`
  const statusOf = (current: MetricValueStatus) =>
    ({ type: spec.type, external: { metric, current } }) as MetricStatus
  if (target.averageValue !== undefined) {
    const { tolerances } = situation
    const { replicas, usage } = replicasForShare(
      statusReplicas,
      tolerances,
      await readMetric(),
      milli(target.averageValue),
    )
    return { replicas, metric: name, status: statusOf({ averageValue: text(usage) }) }
  }
  if (target.value !== undefined) {
    const { replicas, usage } = replicasForValue(situation, await readMetric(), milli(target.value))
    return { replicas, metric: name, status: statusOf({ value: text(usage) }) }
  }
  throw new Error(
    'invalid external metric source: neither a value target nor an average value target was set',
  )
}

async function unableTo<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`unable to ${what}: ${(error as Error).message}`)
  }
}

const milli = (value: string) => Number(parseQuantity(value).milliValue)
const text = (value: number) => Quantity.of(value, { scale: -3 }).toString()

function selectorText(selector: MetricSelector | undefined): string {
  return selector ? labelSelectorAsSelector(selector as LabelSelector).toString() : ''
}

/** In Go's format, which scripts look for in events. */
function describeSelector(selector: MetricSelector | undefined): string {
  if (!selector) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  const map = labels.map(([name, value]) => `${name}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
