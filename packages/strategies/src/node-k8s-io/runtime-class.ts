import type { RuntimeClass, Scheduling } from '@coxswain/api/node/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { nameIsDNSLabel, validateImmutableField, validateLabels } from '@coxswain/apimachinery/validation'
import { nodeLabelDeprecation } from '../core/node-selector.ts'
import { validateContainerResources } from '../core/pod/validation/resources.ts'
import { validateTolerations } from '../core/pod/validation/tolerations.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, invalidBecause, printed } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

export const runtimeClassStrategy: Strategy = defineStrategy<RuntimeClass>({
  unconditionalUpdate: false,
  validate: object => validateRuntimeClass(object),
  validateUpdate: (object, old): FieldError[] =>
    validateImmutableField(object.handler ?? '', old.handler ?? '', field.Path.of('handler')),
  warnings: object =>
    Object.keys(object.scheduling?.nodeSelector ?? {}).flatMap(label => {
      const message = nodeLabelDeprecation(label)
      return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`]
    }),
  cells: (object, now) => ({
    Name: nameCell(object),
    Handler: object.handler ?? '',
    Age: ageCell(object, now),
  }),
})

function* validateRuntimeClass(object: Decoded<RuntimeClass>): Findings {
  const handler = object.handler ?? ''
  const path = field.Path.of('handler')
  if (handler === '') yield field.required(path)
  else yield* invalidBecause(path, handler, nameIsDNSLabel(handler, false))
  if (object.overhead) {
    const requirements = { limits: object.overhead.podFixed ?? {} }
    yield* validateContainerResources(requirements, new Set(), field.Path.of('overhead'))
  }
  if (object.scheduling) yield* validateScheduling(object.scheduling, field.Path.of('scheduling'))
}

function* validateScheduling(scheduling: Decoded<Scheduling>, path: field.Path): Findings {
  yield* validateLabels(scheduling.nodeSelector ?? {}, path.child('nodeSelector'))
  const tolerations = scheduling.tolerations ?? []
  const at = path.child('tolerations')
  yield* validateTolerations(tolerations, at)
  const seen = new Set<string>()
  for (const [index, toleration] of tolerations.entries()) {
    const key = [toleration.key, toleration.operator, toleration.value, toleration.effect].map(
      text => text ?? '',
    )
    const identity = JSON.stringify(key)
    const isRepeated = seen.has(identity)
    seen.add(identity)
    if (!isRepeated) continue
    yield field.duplicate(at.index(index), printed(goValue('core.Toleration', toleration)))
  }
}
