import { decodeBuiltin } from '@coxswain/api'
import type * as v1 from '@coxswain/api/autoscaling/v1'
import type * as v2 from '@coxswain/api/autoscaling/v2'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { deepClone, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'
import { behaviorFromText, behaviorToText } from './behavior.ts'
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './metrics.ts'

const annotationPrefix = 'autoscaling.alpha.kubernetes.io/'
const metricsAnnotation = `${annotationPrefix}metrics`
const statusesAnnotation = `${annotationPrefix}current-metrics`
const behaviorAnnotation = `${annotationPrefix}behavior`
const conditionsAnnotation = `${annotationPrefix}conditions`

export type AutoscalerV1 = Decoded<v1.HorizontalPodAutoscaler>
export type AutoscalerV2 = Decoded<v2.HorizontalPodAutoscaler>

export const defaultUtilization = 80
export const isV1 = ({ apiVersion }: AutoscalerV1 | AutoscalerV2): boolean => apiVersion === 'autoscaling/v1'

/**
 * Version 1 only has the utilization of CPUs; everything else is carried in annotations, which belong to version 1 alone
 * and are never stored.
 */
export function convertAutoscaler(
  object: AutoscalerV1 | AutoscalerV2,
  apiVersion: string,
): AutoscalerV1 | AutoscalerV2 {
  if (object.apiVersion === apiVersion) return object
  return isV1(object) ? toV2(object) : toV1(object)
}

export function dropAnnotations({ metadata }: AutoscalerV1 | AutoscalerV2): void {
  if (!metadata.annotations) return
  const kept = Object.entries(metadata.annotations).filter(([name]) => !isRoundTrip(name))
  if (kept.length > 0) metadata.annotations = Object.fromEntries(kept)
  else delete metadata.annotations
}

const isRoundTrip = (name: string): boolean =>
  [metricsAnnotation, statusesAnnotation, behaviorAnnotation, conditionsAnnotation].includes(name)

const utilizationMetric = (averageUtilization: number): Decoded<v2.MetricSpec> => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

const isCpuUtilization = ({ type, resource }: Decoded<v2.MetricSpec>): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined

const isCpuStatus = ({ type, resource }: Decoded<v2.MetricStatus>): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined

/** In the form of version 2, without the annotations of version 1. Shares nothing with `object` that changes. */
export function toV2(object: AutoscalerV1): AutoscalerV2 {
  const annotations = object.metadata.annotations ?? {}
  const { targetCPUUtilizationPercentage: utilization, ...spec } = object.spec ?? {}
  const { currentCPUUtilizationPercentage: current, ...status } = object.status ?? {}
  const metrics =
    readList<v1.MetricSpec>('MetricSpec', annotations[metricsAnnotation])?.map(metricFromV1) ?? []
  if (utilization !== undefined) metrics.push(utilizationMetric(utilization))
  if (metrics.length === 0) metrics.push(utilizationMetric(defaultUtilization))
  const behavior = behaviorFromText(annotations[behaviorAnnotation])
  const statuses = readList<v1.MetricStatus>('MetricStatus', annotations[statusesAnnotation])
  const known: Decoded<v2.MetricStatus>[] | undefined =
    current === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]
  const conditions = readList<v1.HorizontalPodAutoscalerCondition>(
    'HorizontalPodAutoscalerCondition',
    annotations[conditionsAnnotation],
  )
  const currentMetrics = statuses?.map(metricStatusFromV1) ?? known
  const converted: AutoscalerV2 = {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: { ...object.metadata },
    spec: { ...spec, metrics, ...(behavior && { behavior }) },
    status: { ...status, ...(currentMetrics && { currentMetrics }), ...(conditions && { conditions }) },
  }
  dropAnnotations(converted)
  return decode('v2', converted) as AutoscalerV2
}

/** In the form of version 1. */
export function toV1(object: AutoscalerV2): AutoscalerV1 {
  const { metrics, behavior, ...spec } = object.spec ?? {}
  const { currentMetrics, conditions, ...status } = object.status ?? {}
  const utilization = metrics?.find(isCpuUtilization)?.resource?.target?.averageUtilization
  const others = metrics?.filter(metric => !isCpuUtilization(metric)) ?? []
  const current = currentMetrics?.findLast(isCpuStatus)?.resource?.current?.averageUtilization
  const carried: Record<string, string> = {}
  if (others.length > 0) carried[metricsAnnotation] = writeJson(others.map(metricToV1))
  if (currentMetrics?.length) carried[statusesAnnotation] = writeJson(currentMetrics.map(metricStatusToV1))
  if (behavior) carried[behaviorAnnotation] = behaviorToText(behavior)
  if (conditions?.length) carried[conditionsAnnotation] = writeJson(conditions)
  const converted: AutoscalerV1 = {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: { ...object.metadata },
    spec: { ...spec, ...(utilization !== undefined && { targetCPUUtilizationPercentage: utilization }) },
    status: { ...status, ...(current !== undefined && { currentCPUUtilizationPercentage: current }) },
  }
  dropAnnotations(converted)
  if (Object.keys(carried).length > 0)
    converted.metadata.annotations = { ...converted.metadata.annotations, ...carried }
  return decode('v1', converted) as AutoscalerV1
}

function decode(version: string, object: AutoscalerV1 | AutoscalerV2): JsonObject {
  const kind = { group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' }
  return decodeBuiltin(kind, deepClone(object)).object
}

/** The list that an annotation holds; undefined when it holds something else. */
function readList<T>(kind: string, text: string | undefined): Decoded<T>[] | undefined {
  if (!text) return undefined
  try {
    const list: unknown = JSON.parse(text)
    if (!Array.isArray(list)) return undefined
    const type = { group: 'autoscaling', version: 'v1', kind }
    return list.map(item => decodeBuiltin(type, item).object as Decoded<T>)
  } catch (error) {
    if (error instanceof SyntaxError || isMachineryError(error)) return undefined
    throw error
  }
}
