/** Validation of selectors and conditions that are fields of an object. */
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { digit, isShaped, lower, underscore, upper, utf8Length } from '../go/chars.ts'
import type { LabelSelector } from '../meta/label-selector.ts'
import type { Condition, DeepReadonly } from '../meta/meta.ts'
import { regexError } from './messages.ts'
import { isValidLabelValue } from './names.ts'
import { validateLabelName, validateLabels } from './object-meta.ts'

export interface LabelSelectorRules {
  /**
   * For objects that were stored with such a value before values were checked.
   * @default false
   */
  readonly allowInvalidLabelValue?: boolean
}

/** Validates a label selector. */
export function validateLabelSelector(
  selector: DeepReadonly<LabelSelector> | undefined,
  path: Path,
  rules: LabelSelectorRules = {},
): FieldError[] {
  if (!selector) return []
  const errors = validateLabels(selector.matchLabels, path.child('matchLabels'))
  selector.matchExpressions?.forEach((expression, index) => {
    const at = path.child('matchExpressions').index(index)
    const { key, operator } = expression
    const values = expression.values ?? []
    for (const error of validateOperator(operator, values, at)) errors.push(error)
    for (const error of validateLabelName(key, at.child('key'))) errors.push(error)
    if (rules.allowInvalidLabelValue) return
    values.forEach((value, valueIndex) => {
      const valuePath = at.child('values').index(valueIndex)
      for (const message of isValidLabelValue(value)) errors.push(invalid(valuePath, value, message))
    })
  })
  return errors
}

function validateOperator(operator: string, values: readonly string[], path: Path): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return []
      return [required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return []
      return [
        forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      ]
    default:
      return [invalid(path.child('operator'), operator, 'not a valid selector operator')]
  }
}

const maxReasonLength = 1024
const maxMessageLength = 32 * 1024

/** Validates the conditions of a status. */
export function validateConditions(conditions: readonly Readonly<Condition>[], path: Path): FieldError[] {
  const seen = new Set<string>()
  return conditions.flatMap((condition, index) => {
    const at = path.index(index)
    const errors = seen.has(condition.type) ? [duplicate(at.child('type'), condition.type)] : []
    seen.add(condition.type)
    return [...errors, ...validateCondition(condition, at)]
  })
}

function validateCondition(condition: Readonly<Condition>, path: Path): FieldError[] {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition
  const errors = validateLabelName(type, path.child('type'))
  const statuses = ['False', 'True', 'Unknown']
  if (!statuses.includes(status)) errors.push(notSupported(path.child('status'), status ?? '', statuses))
  if (observedGeneration < 0) {
    const detail = 'must be greater than or equal to zero'
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, detail))
  }
  if (!lastTransitionTime) errors.push(required(path.child('lastTransitionTime')))
  const reasonPath = path.child('reason')
  if (reason === '') errors.push(required(reasonPath))
  else {
    for (const error of isConditionReason(reason).map(wrong => invalid(reasonPath, reason, wrong)))
      errors.push(error)
    if (utf8Length(reason) > maxReasonLength) errors.push(tooLong(reasonPath, maxReasonLength))
  }
  if (utf8Length(message) > maxMessageLength) errors.push(tooLong(path.child('message'), maxMessageLength))
  return errors
}

function isConditionReason(value: string): string[] {
  const last = lower | upper | digit | underscore
  // Commas and colons may stand in the middle: taken out, the rest has to be of the other characters.
  const inner = value.slice(1, -1).replace(/[,:]/g, '')
  const plain = value.length > 1 ? value[0] + inner + value[value.length - 1] : value
  if (isShaped(plain, lower | upper, last, last)) return []
  const wrong =
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
  const examples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB']
  return [regexError(wrong, '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?', ...examples)]
}
