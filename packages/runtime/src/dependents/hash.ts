import { Quantity } from '@coxswain/apimachinery/quantity'

/** A short text that differs when `value` differs as JSON; the order of members does not matter. */
export function formatHash(value: unknown): string {
  const text = formatStable(value)
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ (code + at), 0x01000193)
  }
  return [high, low].map(part => (part >>> 0).toString(16).padStart(8, '0')).join('')
}

function formatStable(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(formatStable).join()}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${formatStable(member)}`).join()}}`
}

/**
 * Whether `live` has every field of `desired`. It may have more: defaults, and fields of other managers. Items of lists are
 * paired by `name` where they have one, else by position. False may also mean that the server normalizes a value.
 */
export function hasDesired(live: unknown, desired: unknown): boolean {
  if (typeof desired !== 'object' || desired === null) return desired === undefined || live === desired
  if (Array.isArray(desired)) {
    const items = Array.isArray(live) ? live : []
    const byName = new Map(items.map(item => [nameOf(item), item]))
    return desired.every((item, index) => {
      const name = nameOf(item)
      return hasDesired(name === undefined ? items[index] : byName.get(name), item)
    })
  }
  const members = typeof live === 'object' && live !== null ? (live as Record<string, unknown>) : {}
  return Object.entries(desired).every(
    ([name, member]) =>
      hasDesired(members[name], member) || (quantities.has(name) && hasQuantities(members[name], member)),
  )
}

/** Members whose own members are quantities, which the server normalizes: `0.5` becomes `500m`. */
const quantities: ReadonlySet<string> = new Set(['requests', 'limits', 'capacity', 'hard'])

function hasQuantities(live: unknown, desired: unknown): boolean {
  if (typeof live !== 'object' || live === null || typeof desired !== 'object' || desired === null)
    return false
  const members = live as Record<string, unknown>
  return Object.entries(desired).every(([name, member]) => isSameQuantity(members[name], member))
}

function isSameQuantity(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  try {
    return Quantity.parse(String(a)).equals(Quantity.parse(String(b)))
  } catch {
    return false
  }
}

function nameOf(item: unknown): string | undefined {
  const name = (item as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string' ? name : undefined
}
