/** A number or a percentage. */
export { type IntOrString, intValue, isPercentage, scaledValueFromIntOrPercent } from './int-or-string.ts'
