import type { CapacityRequestPolicyRange, DeviceCapacity } from '@coxswain/api/resource/v1'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'
import type { Decoded } from '../decoded.ts'
import type { Findings } from '../shared/reading.ts'

const maxOptions = 10

const amount = (value: unknown): Quantity =>
  parseQuantity(typeof value === 'string' ? value : String(value ?? 0))

/** How much of a capacity a request may take. Only devices that are shared have a policy. */
export function* validateCapacity(
  capacity: Decoded<DeviceCapacity>,
  isShared: boolean,
  path: field.Path,
): Findings {
  const policy = capacity.requestPolicy
  if (!policy) return
  const at = path.child('requestPolicy')
  if (!isShared) {
    yield field.forbidden(at, 'allowMultipleAllocations must be true')
    return
  }
  const values = policy.validValues ?? []
  if (values.length > 0 && policy.validRange)
    yield field.forbidden(
      at,
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    )
  else if (values.length > 0) {
    if (policy.default === undefined)
      yield field.required(at.child('default'), 'required when validValues is defined')
    else
      yield* validateValues(
        values.map(amount),
        amount(policy.default),
        amount(capacity.value),
        at.child('validValues'),
      )
  } else if (policy.validRange) {
    if (policy.default === undefined)
      yield field.required(at.child('default'), 'required when validRange is defined')
    else
      yield* validateRange(
        policy.validRange,
        amount(policy.default),
        amount(capacity.value),
        at.child('validRange'),
      )
  }
}

function* validateValues(
  values: readonly Quantity[],
  standard: Quantity,
  capacity: Quantity,
  path: field.Path,
): Findings {
  for (const [index, value] of values.entries()) {
    const before = values[index - 1]
    if (before && before.compare(value) > 0)
      yield field.invalid(path.index(index), value.toString(), 'values must be sorted in ascending order')
  }
  if (values.length > maxOptions) {
    yield field.tooMany(path, values.length, maxOptions)
  } else {
    const seen = new Set<string>()
    for (const [index, value] of values.entries())
      if (value.compare(capacity) > 0)
        yield field.invalid(
          path.index(index),
          value.toString(),
          `option is larger than capacity value: ${capacity}`,
        )
    for (const [index, value] of values.entries()) {
      const key = String(value.value)
      if (seen.has(key)) yield field.duplicate(path.index(index), key)
      seen.add(key)
    }
  }
  if (!values.some(value => value.compare(standard) === 0))
    yield field.invalid(
      path,
      standard.toString(),
      'default value is not valid according to the requestPolicy',
    )
}

function* validateRange(
  range: Decoded<CapacityRequestPolicyRange>,
  standard: Quantity,
  capacity: Quantity,
  path: field.Path,
): Findings {
  if (range.min === undefined) {
    yield field.required(path.child('min'), 'required when validRange is defined')
    return
  }
  const min = amount(range.min)
  const max = range.max === undefined ? undefined : amount(range.max)
  const minPath = path.child('min')
  if (min.compare(capacity) > 0)
    yield field.invalid(minPath, min.toString(), `min is larger than capacity value: ${capacity}`)
  if (standard.compare(min) < 0)
    yield field.invalid(minPath, standard.toString(), `default is less than min: ${min}`)
  if (max) {
    const maxPath = path.child('max')
    if (min.compare(max) > 0) yield field.invalid(maxPath, min.toString(), `min is larger than max: ${max}`)
    if (max.compare(capacity) > 0)
      yield field.invalid(maxPath, max.toString(), `max is larger than capacity value: ${capacity}`)
    if (standard.compare(max) > 0)
      yield field.invalid(maxPath, standard.toString(), `default is more than max: ${max}`)
  }
  if (range.step === undefined) return
  const step = amount(range.step)
  const stepPath = path.child('step')
  const first = min.add(step)
  if (first.compare(capacity) > 0)
    yield field.invalid(
      stepPath,
      step.toString(),
      `one step ${first} is larger than capacity value: ${capacity}`,
    )
  for (const value of max ? [standard, max] : [standard])
    if (step.value !== 0n && (value.value - min.value) % step.value !== 0n)
      yield field.invalid(
        stepPath,
        value.toString(),
        `value is not a multiple of a given step (${step}) from (${min})`,
      )
}
