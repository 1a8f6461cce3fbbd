import type { PriorityClass } from '@coxswain/api/scheduling/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { validateImmutableField } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, numberOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const systemPrefix = 'system-'
const highestOfUsers = 1_000_000_000
const policies = ['PreemptLowerPriority', 'Never']

interface SystemPriorityClass {
  readonly name: string
  readonly value: number
  readonly description: string
}

/** Every cluster has these. */
export const systemPriorityClasses: readonly SystemPriorityClass[] = [
  {
    name: 'system-node-critical',
    value: 2 * highestOfUsers + 1000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2 * highestOfUsers,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
]

export const priorityClassStrategy: Strategy = defineStrategy<PriorityClass>({
  default(object) {
    object.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  prepareForCreate(object) {
    const metadata = object.metadata
    metadata.generation = 1
  },
  validate: object => validatePriorityClass(object),
  validateUpdate(object, old): FieldError[] {
    const errors = validateImmutableField(
      object.preemptionPolicy ?? null,
      old.preemptionPolicy ?? null,
      field.Path.of('preemptionPolicy'),
    )
    if (numberOf(object.value) !== numberOf(old.value))
      errors.push(field.forbidden(field.Path.of('value'), 'may not be changed in an update.'))
    return errors
  },
  cells: (object, now) => ({
    Name: nameCell(object),
    Value: numberOf(object.value),
    'Global-Default': object.globalDefault ?? false,
    Age: ageCell(object, now),
    PreemptionPolicy: object.preemptionPolicy ?? '',
  }),
})

function* validatePriorityClass(object: Decoded<PriorityClass>): Findings {
  const name = object.metadata.name ?? ''
  const value = numberOf(object.value)
  if (name.startsWith(systemPrefix)) {
    const problem = describeSystemProblem(name, value, object.globalDefault === true)
    if (problem !== undefined) {
      const message = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`
      yield field.forbidden(field.Path.of('metadata', 'name'), message)
    }
  } else if (value > highestOfUsers) {
    const message = `maximum allowed value of a user defined priority is ${highestOfUsers}`
    yield field.forbidden(field.Path.of('value'), message)
  }
  const policy = object.preemptionPolicy
  const path = field.Path.of('preemptionPolicy')
  if (policy === '') yield field.required(path)
  else if (policy !== undefined && !policies.includes(policy ?? ''))
    yield field.notSupported(path, policy, policies)
}

function describeSystemProblem(name: string, value: number, isDefault: boolean): string | undefined {
  const known = systemPriorityClasses.find(candidate => candidate.name === name)
  if (!known) return `${name} is not a known system priority class`
  if (known.value !== value) return `value of ${name} PriorityClass must be ${known.value}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}
