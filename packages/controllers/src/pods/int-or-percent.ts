import { parseInt64 } from '@coxswain/apimachinery/go'

/** A number, or that share of `total`. */
export function scaleIntOrPercent(
  value: number | string | undefined,
  total: number,
  round: 'up' | 'down',
): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const percent = value.endsWith('%') ? parseInt64(value.slice(0, -1)) : undefined
  if (percent === undefined) return 0
  const share = (Number(percent) * total) / 100
  return round === 'up' ? Math.ceil(share) : Math.floor(share)
}
