/** A number or a percentage. */
export { type IntOrString, intValue, scaledValueFromIntOrPercent } from './int-or-string.ts'
