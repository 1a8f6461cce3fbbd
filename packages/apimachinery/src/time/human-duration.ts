/** How long ago `timestamp` was, as kubectl prints it: `45s`, `3m12s`, `5h`, `2d3h`, `400d`. */
export function formatAge(timestamp: string | undefined, now: number): string {
  const then = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
  return Number.isNaN(then) ? '<unknown>' : formatHumanDuration(now - then)
}

/** A duration in the largest one or two units that matter. */
export function formatHumanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return join(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return join(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (hours < 192) return join(Math.floor(hours / 24), 'd', hours % 24, 'h')
  const days = Math.floor(hours / 24)
  if (days < 730) return `${days}d`
  if (days < 365 * 8) return join(Math.floor(days / 365), 'y', days % 365, 'd')
  return `${Math.floor(days / 365)}y`
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}
