import { MachineryError } from '../errors.ts'
import { aggregate, type FieldError, invalid, notSupported } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { parseInt64 } from '../go/parse-int.ts'
import { compareCodePoints } from '../go/print-value.ts'
import { isQualifiedName, isValidLabelValue } from '../validation/names.ts'

/** How a requirement compares. `=` and `==` mean the same and print as they were written. */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

const operators: readonly string[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt', 'exists', '!']

export type Labels = Readonly<Record<string, string>>

/** One condition of a label selector. */
export interface Requirement {
  readonly key: string
  readonly operator: LabelOperator
  readonly values: readonly string[]
}

/**
 * A validated requirement: its key and values could be labels and the operator has the right number of values.
 * @throws MachineryError `BadSelector`, with all errors
 */
export function createRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  path: Path = Path.root,
): Requirement {
  const errors = [...checkKey(key, () => path.child('key')), ...checkValues(operator, values, path)]
  for (const [index, value] of values.entries()) {
    const wrong = isValidLabelValue(value)
    if (wrong.length === 0) continue
    errors.push(invalid(path.child('values').index(index).key(key), value, wrong.join('; ')))
  }
  if (errors.length > 0) throw new MachineryError('BadSelector', aggregate(errors))
  return { key, operator, values }
}

/** Validates a key. The path is created only when it is needed. */
export function checkKey(key: string, path: () => Path): FieldError[] {
  const wrong = isQualifiedName(key)
  return wrong.length > 0 ? [invalid(path(), key, wrong.join('; '))] : []
}

function checkValues(operator: LabelOperator, values: readonly string[], path: Path): FieldError[] {
  const at = (): Path => path.child('values')
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length > 0) return []
      return [invalid(at(), orNull(values), "for 'in', 'notin' operators, values set can't be empty")]
    case '=':
    case '==':
    case '!=':
      if (values.length === 1) return []
      return [invalid(at(), orNull(values), 'exact-match compatibility requires one single value')]
    case 'exists':
    case '!':
      if (values.length === 0) return []
      return [invalid(at(), orNull(values), 'values set must be empty for exists and does not exist')]
    case 'gt':
    case 'lt':
      return checkNumbers(values, at())
    default:
      return [notSupported(path.child('operator'), operator, operators)]
  }
}

// No values at all print as Go's nil list does.
function orNull(values: readonly string[]): readonly string[] | null {
  return values.length > 0 ? values : null
}

function checkNumbers(values: readonly string[], path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (values.length !== 1) {
    errors.push(invalid(path, orNull(values), "for 'Gt', 'Lt' operators, exactly one value is required"))
  }
  values.forEach((value, index) => {
    if (parseInt64(value) !== undefined) return
    errors.push(invalid(path.index(index), value, "for 'Gt', 'Lt' operators, the value must be an integer"))
  })
  return errors
}

/** True when labels satisfy the requirement. An absent label satisfies `!=`, `notin` and `!` only. */
export function matchesRequirement({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value)
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
    case 'lt': {
      if (value === undefined || values.length !== 1) return false
      const left = parseInt64(value)
      const right = parseInt64(values[0]!)
      if (left === undefined || right === undefined) return false
      return operator === 'gt' ? left > right : left < right
    }
    default:
      return false
  }
}

const symbols: Readonly<Record<LabelOperator, string>> = {
  '=': '=',
  '==': '==',
  '!=': '!=',
  in: ' in ',
  notin: ' notin ',
  gt: '>',
  lt: '<',
  exists: '',
  '!': '',
}

/** The text that parses to the same requirement, with the values of a set sorted. */
export function formatRequirement({ key, operator, values }: Requirement): string {
  if (operator === 'exists') return key
  if (operator === '!') return `!${key}`
  const list = values.length === 1 ? values[0] : [...values].sort(compareCodePoints).join(',')
  return `${key}${symbols[operator]}${operator === 'in' || operator === 'notin' ? `(${list})` : list}`
}
