import { MachineryError } from '../errors.ts'
import { atoi, parseInt64 } from '../go/parse-int.ts'
import { quote } from '../go/quote.ts'

/** A number, or a string that is a percentage or a name: `3`, `"25%"`, `"http"`. */
export type IntOrString = number | string

/** The number; a string that is none counts as 0. */
export function intValue(value: IntOrString): number {
  return typeof value === 'number' ? value : Number(atoi(value).value)
}

/** True for `"25%"`. */
export function isPercentage(value: IntOrString): boolean {
  return typeof value === 'string' && value.endsWith('%') && parseInt64(value.slice(0, -1)) !== undefined
}

/**
 * The number, or the percentage of `total`: what `maxSurge` means for 10 replicas.
 * @throws MachineryError `BadIntOrString` for a string that is not a percentage
 */
export function scaledValueFromIntOrPercent(
  value: IntOrString,
  total: number,
  rounding: 'up' | 'down',
): number {
  if (typeof value === 'number') return value
  if (!value.endsWith('%')) throw bad('invalid type: string is not a percentage')
  const digits = value.slice(0, -1)
  const { value: percent, error } = atoi(digits)
  if (error) throw bad(`invalid value ${quote(value)}: strconv.Atoi: parsing ${quote(digits)}: ${error}`)
  const exact = (Number(percent) * total) / 100
  const rounded = rounding === 'up' ? Math.ceil(exact) : Math.floor(exact)
  return rounded === 0 ? 0 : rounded // not -0
}

function bad(message: string): MachineryError {
  return new MachineryError('BadIntOrString', `invalid value for IntOrString: ${message}`)
}
