import type { Toleration } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { isValidLabelValue, validateLabelName } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../../../decoded.ts'
import type { Findings } from '../../../shared/reading.ts'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function* validateTolerations(
  tolerations: readonly Decoded<Toleration>[],
  path: field.Path,
): Findings {
  for (const [index, toleration] of tolerations.entries())
    yield* validateToleration(toleration, path.index(index))
}

function* validateToleration(toleration: Decoded<Toleration>, path: field.Path): Findings {
  const key = toleration.key ?? ''
  const value = toleration.value ?? ''
  const operator = toleration.operator ?? ''
  const effect = toleration.effect ?? ''
  const operatorPath = path.child('operator')
  if (key !== '') yield* validateLabelName(key, path.child('key'))
  if (key === '' && operator !== 'Exists') {
    const message = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    yield field.invalid(operatorPath, operator, message)
  }
  if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const message = "effect must be 'NoExecute' when `tolerationSeconds` is set"
    yield field.invalid(path.child('effect'), effect, message)
  }
  if (operator === 'Equal' || operator === '') {
    const messages = isValidLabelValue(value)
    if (messages.length > 0) yield field.invalid(operatorPath, value, messages.join(';'))
  } else if (operator === 'Exists') {
    if (value !== '')
      yield field.invalid(operatorPath, value, "value must be empty when `operator` is 'Exists'")
  } else {
    const compares = operator === 'Lt' || operator === 'Gt'
    yield field.notSupported(operatorPath, operator, ['Equal', 'Exists', ...(compares ? ['Lt', 'Gt'] : [])])
  }
  if (effect !== '' && !effects.includes(effect))
    yield field.notSupported(path.child('effect'), effect, effects)
}
