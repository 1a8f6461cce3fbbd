import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { objectOf, textOf } from '../shared/reading.ts'

/** Leaves out what is not there; members keep the order in which upstream's types have them. */
function compact(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

const zero = '0'
const isZero = (quantity: unknown): boolean => parseQuantity(textOf(quantity) || zero).isZero

const referenceOf = (value: unknown): JsonObject => {
  const { kind = '', name = '', apiVersion } = objectOf(value)
  return compact({ kind, name, apiVersion: apiVersion || undefined })
}

type Part = (source: JsonObject) => JsonObject

function convertParts(metric: JsonObject, parts: Readonly<Record<string, Part>>): JsonObject {
  const converted: JsonObject = { type: metric.type ?? '' }
  for (const [name, part] of Object.entries(parts)) {
    const source = metric[name]
    if (isObject(source)) converted[name] = part(source)
  }
  return converted
}

/** A metric of version 2 as version 1 writes it into its annotation. */
export function metricToV1(metric: JsonObject): JsonObject {
  return convertParts(metric, {
    object: source => {
      const target = objectOf(source.target)
      const { name = '', selector } = objectOf(source.metric)
      return compact({
        target: referenceOf(source.describedObject),
        metricName: name,
        targetValue: target.value ?? zero,
        selector,
        averageValue: target.averageValue,
      })
    },
    pods: source => {
      const { name = '', selector } = objectOf(source.metric)
      const targetAverageValue = objectOf(source.target).averageValue ?? zero
      return compact({ metricName: name, targetAverageValue, selector })
    },
    resource: source => {
      const target = objectOf(source.target)
      return compact({
        name: source.name ?? '',
        targetAverageUtilization: target.averageUtilization,
        targetAverageValue: target.averageValue,
      })
    },
    containerResource: source => {
      const target = objectOf(source.target)
      return compact({
        name: source.name ?? '',
        targetAverageUtilization: target.averageUtilization,
        targetAverageValue: target.averageValue,
        container: source.container ?? '',
      })
    },
    external: source => {
      const target = objectOf(source.target)
      const { name = '', selector } = objectOf(source.metric)
      return compact({
        metricName: name,
        metricSelector: selector,
        targetValue: target.value,
        targetAverageValue: target.averageValue,
      })
    },
  })
}

export function metricFromV1(metric: JsonObject): JsonObject {
  const ofResource: Part = source => ({
    name: source.name ?? '',
    target: compact({
      type: source.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
      averageValue: source.targetAverageValue,
      averageUtilization: source.targetAverageUtilization,
    }),
  })
  return convertParts(metric, {
    object: source => {
      const value = source.targetValue ?? zero
      const isAverage = source.averageValue !== undefined
      return {
        describedObject: referenceOf(source.target),
        metric: compact({ name: source.metricName ?? '', selector: source.selector }),
        target: compact({
          type: isAverage ? 'AverageValue' : 'Value',
          value: isAverage && isZero(value) ? undefined : value,
          averageValue: source.averageValue,
        }),
      }
    },
    pods: source => ({
      metric: compact({ name: source.metricName ?? '', selector: source.selector }),
      target: { type: 'AverageValue', averageValue: source.targetAverageValue ?? zero },
    }),
    resource: ofResource,
    containerResource: source => ({ ...ofResource(source), container: source.container ?? '' }),
    external: source => ({
      metric: compact({ name: source.metricName ?? '', selector: source.metricSelector }),
      target: compact({
        type: source.targetValue === undefined ? 'AverageValue' : 'Value',
        value: source.targetValue,
        averageValue: source.targetAverageValue,
      }),
    }),
  })
}

export function metricStatusToV1(metric: JsonObject): JsonObject {
  return convertParts(metric, {
    object: source => {
      const current = objectOf(source.current)
      const { name = '', selector } = objectOf(source.metric)
      return compact({
        target: referenceOf(source.describedObject),
        metricName: name,
        currentValue: current.value ?? zero,
        selector,
        averageValue: current.averageValue,
      })
    },
    pods: source => {
      const { name = '', selector } = objectOf(source.metric)
      const currentAverageValue = objectOf(source.current).averageValue ?? zero
      return compact({ metricName: name, currentAverageValue, selector })
    },
    resource: source => {
      const current = objectOf(source.current)
      return compact({
        name: source.name ?? '',
        currentAverageUtilization: current.averageUtilization,
        currentAverageValue: current.averageValue ?? zero,
      })
    },
    containerResource: source => {
      const current = objectOf(source.current)
      return compact({
        name: source.name ?? '',
        currentAverageUtilization: current.averageUtilization,
        currentAverageValue: current.averageValue ?? zero,
        container: source.container ?? '',
      })
    },
    external: source => {
      const current = objectOf(source.current)
      const { name = '', selector } = objectOf(source.metric)
      return compact({
        metricName: name,
        metricSelector: selector,
        currentValue: current.value ?? zero,
        currentAverageValue: current.averageValue,
      })
    },
  })
}

export function metricStatusFromV1(metric: JsonObject): JsonObject {
  const ofResource: Part = source => ({
    name: source.name ?? '',
    current: compact({
      averageValue: source.currentAverageValue ?? zero,
      averageUtilization: source.currentAverageUtilization,
    }),
  })
  return convertParts(metric, {
    object: source => ({
      metric: compact({ name: source.metricName ?? '', selector: source.selector }),
      current: compact({ value: source.currentValue ?? zero, averageValue: source.averageValue }),
      describedObject: referenceOf(source.target),
    }),
    pods: source => ({
      metric: compact({ name: source.metricName ?? '', selector: source.selector }),
      current: { averageValue: source.currentAverageValue ?? zero },
    }),
    resource: ofResource,
    containerResource: source => ({ ...ofResource(source), container: source.container ?? '' }),
    external: source => ({
      metric: compact({ name: source.metricName ?? '', selector: source.metricSelector }),
      current: compact({ value: source.currentValue ?? zero, averageValue: source.currentAverageValue }),
    }),
  })
}
