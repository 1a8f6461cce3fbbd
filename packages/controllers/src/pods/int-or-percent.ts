/** A number, or that share of `total`. */
export function scaleIntOrPercent(
  value: number | string | undefined,
  total: number,
  round: 'up' | 'down',
): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value)
  if (!percent) return 0
  const share = (Number(percent[1]) * total) / 100
  return round === 'up' ? Math.ceil(share) : Math.floor(share)
}
