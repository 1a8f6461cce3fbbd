import { type IntOrString, isPercentage, scaledValueFromIntOrPercent } from '@coxswain/apimachinery/intstr'

/** A number, or that share of `total`: what `maxSurge` and `minAvailable` mean. Anything else counts as 0. */
export function scaleIntOrPercent(
  value: IntOrString | undefined,
  total: number,
  rounding: 'up' | 'down',
): number {
  if (value === undefined || (typeof value === 'string' && !isPercentage(value))) return 0
  return scaledValueFromIntOrPercent(value, total, rounding)
}
