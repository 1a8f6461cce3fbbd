import type * as v1 from '@coxswain/api/autoscaling/v1'
import type * as v2 from '@coxswain/api/autoscaling/v2'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import type { Decoded } from '../decoded.ts'

/** The same members without those that are undefined; the others keep their order, which is upstream's. */
function compact<T extends object>(members: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

const zero = '0'

type Reference = Decoded<v2.CrossVersionObjectReference>

const referenceOf = ({ kind = '', name = '', apiVersion }: Reference = {}): Reference =>
  compact<Reference>({ kind, name, apiVersion: apiVersion || undefined })

type Identifier = Decoded<v2.MetricIdentifier>

const identifierOf = (name: string | undefined, selector: Identifier['selector']): Identifier =>
  compact<Identifier>({ name: name ?? '', selector })

type Target = Decoded<v2.MetricTarget>
type Value = Decoded<v2.MetricValueStatus>

/** A metric of version 2 as version 1 writes it into its annotation. */
export function metricToV1(metric: Decoded<v2.MetricSpec>): Decoded<v1.MetricSpec> {
  const { type = '', object, pods, resource, containerResource, external } = metric
  return compact<Decoded<v1.MetricSpec>>({
    type,
    object:
      object &&
      compact<Decoded<v1.ObjectMetricSource>>({
        target: referenceOf(object.describedObject),
        metricName: object.metric?.name ?? '',
        targetValue: object.target?.value ?? zero,
        selector: object.metric?.selector,
        averageValue: object.target?.averageValue,
      }),
    pods:
      pods &&
      compact<Decoded<v1.PodsMetricSource>>({
        metricName: pods.metric?.name ?? '',
        targetAverageValue: pods.target?.averageValue ?? zero,
        selector: pods.metric?.selector,
      }),
    resource: resource && resourceToV1(resource),
    containerResource: containerResource && {
      ...resourceToV1(containerResource),
      container: containerResource.container ?? '',
    },
    external:
      external &&
      compact<Decoded<v1.ExternalMetricSource>>({
        metricName: external.metric?.name ?? '',
        metricSelector: external.metric?.selector,
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      }),
  })
}

const resourceToV1 = ({ name = '', target }: Decoded<v2.ResourceMetricSource>) =>
  compact<Decoded<v1.ResourceMetricSource>>({
    name,
    targetAverageUtilization: target?.averageUtilization,
    targetAverageValue: target?.averageValue,
  })

export function metricFromV1(metric: Decoded<v1.MetricSpec>): Decoded<v2.MetricSpec> {
  const { type = '', object, pods, resource, containerResource, external } = metric
  return compact<Decoded<v2.MetricSpec>>({
    type,
    object: object && {
      describedObject: referenceOf(object.target),
      metric: identifierOf(object.metricName, object.selector),
      target: objectTargetFromV1(object),
    },
    pods: pods && {
      metric: identifierOf(pods.metricName, pods.selector),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue ?? zero },
    },
    resource: resource && resourceFromV1(resource),
    containerResource: containerResource && {
      ...resourceFromV1(containerResource),
      container: containerResource.container ?? '',
    },
    external: external && {
      metric: identifierOf(external.metricName, external.metricSelector),
      target: compact<Target>({
        type: external.targetValue === undefined ? 'AverageValue' : 'Value',
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  })
}

function objectTargetFromV1({ targetValue = zero, averageValue }: Decoded<v1.ObjectMetricSource>): Target {
  const isAverage = averageValue !== undefined
  return compact<Target>({
    type: isAverage ? 'AverageValue' : 'Value',
    value: isAverage && parseQuantity(targetValue).isZero ? undefined : targetValue,
    averageValue,
  })
}

const resourceFromV1 = (source: Decoded<v1.ResourceMetricSource>) => ({
  name: source.name ?? '',
  target: compact<Target>({
    type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
    averageValue: source.targetAverageValue,
    averageUtilization: source.targetAverageUtilization,
  }),
})

export function metricStatusToV1(metric: Decoded<v2.MetricStatus>): Decoded<v1.MetricStatus> {
  const { type = '', object, pods, resource, containerResource, external } = metric
  return compact<Decoded<v1.MetricStatus>>({
    type,
    object:
      object &&
      compact<Decoded<v1.ObjectMetricStatus>>({
        target: referenceOf(object.describedObject),
        metricName: object.metric?.name ?? '',
        currentValue: object.current?.value ?? zero,
        selector: object.metric?.selector,
        averageValue: object.current?.averageValue,
      }),
    pods:
      pods &&
      compact<Decoded<v1.PodsMetricStatus>>({
        metricName: pods.metric?.name ?? '',
        currentAverageValue: pods.current?.averageValue ?? zero,
        selector: pods.metric?.selector,
      }),
    resource: resource && resourceStatusToV1(resource),
    containerResource: containerResource && {
      ...resourceStatusToV1(containerResource),
      container: containerResource.container ?? '',
    },
    external:
      external &&
      compact<Decoded<v1.ExternalMetricStatus>>({
        metricName: external.metric?.name ?? '',
        metricSelector: external.metric?.selector,
        currentValue: external.current?.value ?? zero,
        currentAverageValue: external.current?.averageValue,
      }),
  })
}

const resourceStatusToV1 = ({ name = '', current }: Decoded<v2.ResourceMetricStatus>) =>
  compact<Decoded<v1.ResourceMetricStatus>>({
    name,
    currentAverageUtilization: current?.averageUtilization,
    currentAverageValue: current?.averageValue ?? zero,
  })

export function metricStatusFromV1(metric: Decoded<v1.MetricStatus>): Decoded<v2.MetricStatus> {
  const { type = '', object, pods, resource, containerResource, external } = metric
  return compact<Decoded<v2.MetricStatus>>({
    type,
    object: object && {
      metric: identifierOf(object.metricName, object.selector),
      current: compact<Value>({ value: object.currentValue ?? zero, averageValue: object.averageValue }),
      describedObject: referenceOf(object.target),
    },
    pods: pods && {
      metric: identifierOf(pods.metricName, pods.selector),
      current: { averageValue: pods.currentAverageValue ?? zero },
    },
    resource: resource && resourceStatusFromV1(resource),
    containerResource: containerResource && {
      ...resourceStatusFromV1(containerResource),
      container: containerResource.container ?? '',
    },
    external: external && {
      metric: identifierOf(external.metricName, external.metricSelector),
      current: compact<Value>({
        value: external.currentValue ?? zero,
        averageValue: external.currentAverageValue,
      }),
    },
  })
}

const resourceStatusFromV1 = (source: Decoded<v1.ResourceMetricStatus>) => ({
  name: source.name ?? '',
  current: compact<Value>({
    averageValue: source.currentAverageValue ?? zero,
    averageUtilization: source.currentAverageUtilization,
  }),
})
