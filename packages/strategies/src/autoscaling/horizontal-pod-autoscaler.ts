import type { HorizontalPodAutoscaler, HPAScalingRules } from '@coxswain/api/autoscaling/v2'
import * as field from '@coxswain/apimachinery/field'
import { deepClone } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf, keep } from '../shared/members.ts'
import { numberOf, validateNonnegative } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { printMetrics } from './metric-cells.ts'
import { validateSpec } from './validation.ts'
import {
  type AutoscalerV2,
  convertAutoscaler,
  defaultUtilization,
  dropAnnotations,
  isV1,
  toV1,
  toV2,
} from './versions.ts'

/** Validation and defaults work on version 2, which knows everything; version 1 is converted there and back. */
export const horizontalPodAutoscalerStrategy: Strategy = defineStrategy<HorizontalPodAutoscaler>({
  convert: (object, apiVersion) => {
    const converted = convertAutoscaler(object, apiVersion)
    if (converted !== object && !isV1(converted)) setDefaults(converted)
    return converted
  },
  default(object) {
    dropAnnotationsOfV2(object)
    change(object, setDefaults)
  },
  prepareForCreate(object) {
    change(object, autoscaler => {
      autoscaler.status = { desiredReplicas: 0, currentMetrics: null }
    })
  },
  prepareForUpdate(object, old) {
    if (!isV1(object)) return
    change(object, autoscaler => keep(autoscaler, inV2(old), ['status']))
  },
  prepareForStatusUpdate(object, old) {
    if (!isV1(object)) return
    change(object, autoscaler => keep(autoscaler, inV2(old), ['spec']))
  },
  validate: object => validateSpec(inV2(object).spec ?? {}, field.Path.of('spec')),
  validateStatusUpdate(object) {
    const status = object.status ?? {}
    const path = field.Path.of('status')
    return [
      ...validateNonnegative(status.currentReplicas, path.child('currentReplicas')),
      ...validateNonnegative(status.desiredReplicas, path.child('desiredReplicas')),
    ]
  },
  cells: (object, now) => {
    const autoscaler = inV2(object)
    const spec = autoscaler.spec ?? {}
    const status = autoscaler.status ?? {}
    const target = spec.scaleTargetRef ?? {}
    return {
      Name: nameCell(object),
      Reference: `${target.kind ?? ''}/${target.name ?? ''}`,
      Targets: printMetrics(spec.metrics ?? [], status.currentMetrics ?? []),
      MinPods: spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
      MaxPods: numberOf(spec.maxReplicas),
      Replicas: numberOf(status.currentReplicas),
      Age: ageCell(object, now),
    }
  },
})

/** An autoscaler of either version as one of version 2. */
const inV2 = (object: AutoscalerV2): AutoscalerV2 => (isV1(object) ? toV2(object) : object)

function dropAnnotationsOfV2(object: AutoscalerV2): void {
  if (!isV1(object)) dropAnnotations(object)
}

/** Changes an object of either version as one of version 2. */
function change(object: AutoscalerV2, apply: (autoscaler: AutoscalerV2) => void): void {
  if (!isV1(object)) {
    apply(object)
    return
  }
  const autoscaler = inV2(object)
  apply(autoscaler)
  const changed = toV1(autoscaler)
  for (const name of Object.keys(object)) delete object[name as keyof AutoscalerV2]
  Object.assign(object, changed)
}

const scaleUpDefaults: Decoded<HPAScalingRules> = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const scaleDownDefaults: Decoded<HPAScalingRules> = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

function setDefaults(object: AutoscalerV2): void {
  const spec = childOf(object, 'spec')
  spec.minReplicas ??= 1
  if ((spec.metrics ?? []).length === 0) {
    const target = { type: 'Utilization', averageUtilization: defaultUtilization }
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
  }
  if (!spec.behavior) return
  const { scaleUp, scaleDown } = spec.behavior
  spec.behavior = {
    scaleUp: { ...deepClone(scaleUpDefaults), ...scaleUp },
    scaleDown: { ...deepClone(scaleDownDefaults), ...scaleDown },
  }
}
