import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { nameIsDNSLabel, validateImmutableField, validateLabels } from '@coxswain/apimachinery/validation'
import { nodeLabelDeprecation } from '../core/node-selector.ts'
import { validateContainerResources } from '../core/pod/validation/resources.ts'
import { validateTolerations } from '../core/pod/validation/tolerations.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  objectOf,
  printed,
  recordOf,
  textOf,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

export const runtimeClassStrategy: Strategy = {
  unconditionalUpdate: false,
  validate: object => validateRuntimeClass(object),
  validateUpdate: (object, old): FieldError[] =>
    validateImmutableField(textOf(object.handler), textOf(old.handler), field.Path.of('handler')),
  warnings: object =>
    Object.keys(recordOf(objectOf(object.scheduling).nodeSelector)).flatMap(label => {
      const message = nodeLabelDeprecation(label)
      return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`]
    }),
  cells: (object, now) => [nameCell(object), textOf(object.handler), ageCell(object, now)],
}

function* validateRuntimeClass(object: JsonObject): Findings {
  const handler = textOf(object.handler)
  const path = field.Path.of('handler')
  if (handler === '') yield field.required(path)
  else yield* invalidBecause(path, handler, nameIsDNSLabel(handler, false))
  if (isObject(object.overhead)) {
    const requirements = { limits: object.overhead.podFixed }
    yield* validateContainerResources(requirements, new Set(), field.Path.of('overhead'))
  }
  if (isObject(object.scheduling)) yield* validateScheduling(object.scheduling, field.Path.of('scheduling'))
}

function* validateScheduling(scheduling: JsonObject, path: field.Path): Findings {
  yield* validateLabels(recordOf(scheduling.nodeSelector), path.child('nodeSelector'))
  const tolerations = listOf(scheduling.tolerations)
  const at = path.child('tolerations')
  yield* validateTolerations(tolerations, at)
  const seen = new Set<string>()
  for (const [index, toleration] of tolerations.entries()) {
    const key = [toleration.key, toleration.operator, toleration.value, toleration.effect].map(textOf)
    const identity = JSON.stringify(key)
    const isRepeated = seen.has(identity)
    seen.add(identity)
    if (!isRepeated) continue
    const [Key, Operator, Value, Effect] = key
    const TolerationSeconds = toleration.tolerationSeconds ?? null
    yield field.duplicate(at.index(index), printed({ Key, Operator, Value, Effect, TolerationSeconds }))
  }
}
