import { decodeBuiltin } from '@coxswain/api'
import { deepClone, isObject, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import { listOf, objectOf, recordOf, textOf } from '../shared/reading.ts'
import { behaviorFromText, behaviorToText } from './behavior.ts'
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './metrics.ts'

const annotationPrefix = 'autoscaling.alpha.kubernetes.io/'
const metricsAnnotation = `${annotationPrefix}metrics`
const statusesAnnotation = `${annotationPrefix}current-metrics`
const behaviorAnnotation = `${annotationPrefix}behavior`
const conditionsAnnotation = `${annotationPrefix}conditions`

export const defaultUtilization = 80
export const isV1 = ({ apiVersion }: JsonObject): boolean => apiVersion === 'autoscaling/v1'

/**
 * Version 1 knows the utilization of CPUs only; everything else travels in annotations. The annotations are of version 1
 * alone: they are never stored.
 */
export function convertAutoscaler(object: JsonObject, apiVersion: string): JsonObject {
  if (object.apiVersion === apiVersion) return object
  return isV1(object) ? toV2(object) : toV1(object)
}

export function dropAnnotations(object: JsonObject): void {
  const metadata = object.metadata as JsonObject
  if (!isObject(metadata.annotations)) return
  const kept = Object.entries(metadata.annotations).filter(([name]) => !isRoundTrip(name))
  if (kept.length > 0) metadata.annotations = Object.fromEntries(kept)
  else delete metadata.annotations
}

const isRoundTrip = (name: string): boolean =>
  [metricsAnnotation, statusesAnnotation, behaviorAnnotation, conditionsAnnotation].includes(name)

const utilizationMetric = (averageUtilization: unknown): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

function isCpuUtilization(metric: JsonObject): boolean {
  const resource = objectOf(metric.resource)
  return (
    metric.type === 'Resource' &&
    resource.name === 'cpu' &&
    objectOf(resource.target).averageUtilization !== undefined
  )
}

/** In the form of version 2, without the annotations of version 1. Shares nothing with `object` that changes. */
export function toV2(object: JsonObject): JsonObject {
  const annotations = recordOf((object.metadata as JsonObject).annotations)
  const { targetCPUUtilizationPercentage: utilization, ...spec } = objectOf(object.spec)
  const { currentCPUUtilizationPercentage: current, ...status } = objectOf(object.status)
  const metrics = listFromText(annotations[metricsAnnotation])?.map(metricFromV1) ?? []
  if (utilization !== undefined) metrics.push(utilizationMetric(utilization))
  if (metrics.length === 0) metrics.push(utilizationMetric(defaultUtilization))
  const behavior = behaviorFromText(annotations[behaviorAnnotation])
  const statuses = listFromText(annotations[statusesAnnotation])?.map(metricStatusFromV1)
  const known =
    current === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]
  const conditions = listFromText(annotations[conditionsAnnotation])
  const currentMetrics = statuses ?? known
  const converted = decode('v2', {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: { ...(object.metadata as JsonObject) },
    spec: { ...spec, metrics, ...(behavior && { behavior }) },
    status: { ...status, ...(currentMetrics && { currentMetrics }), ...(conditions && { conditions }) },
  })
  dropAnnotations(converted)
  return converted
}

/** In the form of version 1. */
export function toV1(object: JsonObject): JsonObject {
  const { metrics, behavior, ...spec } = objectOf(object.spec)
  const { currentMetrics, conditions, ...status } = objectOf(object.status)
  const utilization = listOf(metrics).find(isCpuUtilization)
  const others = listOf(metrics).filter(metric => !isCpuUtilization(metric))
  const statuses = listOf(currentMetrics)
  const ofCpu = statuses
    .filter(({ type, resource }) => type === 'Resource' && objectOf(resource).name === 'cpu')
    .findLast(({ resource }) => objectOf(objectOf(resource).current).averageUtilization !== undefined)
  const carried: JsonObject = {}
  if (others.length > 0) carried[metricsAnnotation] = writeJson(others.map(metricToV1))
  if (statuses.length > 0) carried[statusesAnnotation] = writeJson(statuses.map(metricStatusToV1))
  if (isObject(behavior)) carried[behaviorAnnotation] = behaviorToText(behavior)
  if (listOf(conditions).length > 0) carried[conditionsAnnotation] = writeJson(listOf(conditions))
  const plain: JsonObject = { ...object, metadata: { ...(object.metadata as JsonObject) } }
  dropAnnotations(plain)
  const metadata = plain.metadata as JsonObject
  if (Object.keys(carried).length > 0)
    metadata.annotations = { ...recordOf(metadata.annotations), ...carried }
  return decode('v1', {
    ...plain,
    apiVersion: 'autoscaling/v1',
    spec: {
      ...spec,
      ...(utilization && {
        targetCPUUtilizationPercentage: objectOf(objectOf(utilization.resource).target).averageUtilization,
      }),
    },
    status: {
      ...status,
      ...(ofCpu && {
        currentCPUUtilizationPercentage: objectOf(objectOf(ofCpu.resource).current).averageUtilization,
      }),
    },
  })
}

function decode(version: string, object: JsonObject): JsonObject {
  const kind = { group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' }
  return decodeBuiltin(kind, deepClone(object)).object
}

/** A list of objects that an annotation holds; undefined when it holds something else. */
function listFromText(text: string | undefined): JsonObject[] | undefined {
  if (textOf(text) === '') return undefined
  try {
    const value: unknown = JSON.parse(textOf(text))
    return Array.isArray(value) && value.every(isObject) ? value : undefined
  } catch {
    return undefined
  }
}
