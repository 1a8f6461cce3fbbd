import { MachineryError } from '../errors.ts'

/** For values so deep that walking them by a recursive schema runs out of stack. */
export function tooDeep(): MachineryError {
  return new MachineryError('TooDeep', 'the value is nested too deeply for its recursive schema')
}
