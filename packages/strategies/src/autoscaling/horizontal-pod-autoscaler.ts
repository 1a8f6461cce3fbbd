import * as field from '@coxswain/apimachinery/field'
import { childObject, deepClone, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { ageCell, nameCell } from '../shared/cells.ts'
import { listOf, numberOf, objectOf, textOf, validateNonnegative } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { printMetrics } from './metric-cells.ts'
import { validateSpec } from './validation.ts'
import { convertAutoscaler, defaultUtilization, dropAnnotations, isV1, toV1, toV2 } from './versions.ts'

/** Validation and defaults work on version 2, which knows everything; version 1 is converted there and back. */
export const horizontalPodAutoscalerStrategy: Strategy = {
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
    change(object, autoscaler => keep(autoscaler, toV2(old), 'status'))
  },
  prepareForStatusUpdate(object, old) {
    if (!isV1(object)) return
    change(object, autoscaler => keep(autoscaler, toV2(old), 'spec'))
  },
  validate: object => validateSpec(objectOf(inV2(object).spec), field.Path.of('spec')),
  validateStatusUpdate(object) {
    const status = objectOf(object.status)
    const path = field.Path.of('status')
    return [
      ...validateNonnegative(status.currentReplicas, path.child('currentReplicas')),
      ...validateNonnegative(status.desiredReplicas, path.child('desiredReplicas')),
    ]
  },
  cells: (object, now) => {
    const autoscaler = inV2(object)
    const spec = objectOf(autoscaler.spec)
    const status = objectOf(autoscaler.status)
    const target = objectOf(spec.scaleTargetRef)
    return [
      nameCell(object),
      `${textOf(target.kind)}/${textOf(target.name)}`,
      printMetrics(listOf(spec.metrics), listOf(status.currentMetrics)),
      spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
      numberOf(spec.maxReplicas),
      numberOf(status.currentReplicas),
      ageCell(object, now),
    ]
  },
}

const inV2 = (object: JsonObject): JsonObject => (isV1(object) ? toV2(object) : object)

function dropAnnotationsOfV2(object: JsonObject): void {
  if (!isV1(object)) dropAnnotations(object)
}

/** Changes an object of either version as one of version 2. */
function change(object: JsonObject, apply: (autoscaler: JsonObject) => void): void {
  if (!isV1(object)) {
    apply(object)
    return
  }
  const autoscaler = toV2(object)
  apply(autoscaler)
  const changed = toV1(autoscaler)
  for (const name of Object.keys(object)) delete object[name]
  Object.assign(object, changed)
}

function keep(object: JsonObject, old: JsonObject, member: 'spec' | 'status'): void {
  if (old[member] === undefined) delete object[member]
  else object[member] = old[member]
}

const scaleUpDefaults: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const scaleDownDefaults: JsonObject = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

function setDefaults(object: JsonObject): void {
  const spec = childObject(object, 'spec')
  spec.minReplicas ??= 1
  if (listOf(spec.metrics).length === 0) {
    const target = { type: 'Utilization', averageUtilization: defaultUtilization }
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
  }
  if (!isObject(spec.behavior)) return
  const { scaleUp, scaleDown } = spec.behavior
  spec.behavior = {
    scaleUp: { ...deepClone(scaleUpDefaults), ...objectOf(scaleUp) },
    scaleDown: { ...deepClone(scaleDownDefaults), ...objectOf(scaleDown) },
  }
}
