import * as field from '@coxswain/apimachinery/field'
import { isCIdentifier, isDNS1123Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import { type Findings, invalidBecause } from '../shared/reading.ts'

const driverNameMax = 63
const poolNameMax = 253
const identifierMax = 32
/** `domain/identifier`. */
const qualifiedNameMax = driverNameMax + 1 + identifierMax

type Rule<T> = (item: T, path: field.Path) => Findings

export function* validateDriverName(name: string, path: field.Path): Findings {
  if (name === '') {
    yield field.required(path)
    return
  }
  if (name.length > driverNameMax) yield field.tooLong(path, driverNameMax)
  yield* invalidBecause(path, name, isDNS1123Subdomain(name.toLowerCase()))
}

export function* validateDeviceName(name: string, path: field.Path): Findings {
  yield* invalidBecause(path, name, isDNS1123Label(name))
}

/** Subdomains with slashes between them. */
export function* validatePoolName(name: string, path: field.Path): Findings {
  if (name === '') {
    yield field.required(path)
    return
  }
  if (name.length > poolNameMax) yield field.tooLong(path, poolNameMax)
  for (const part of name.split('/')) yield* invalidBecause(path, part, isDNS1123Subdomain(part))
}

/** An identifier, in a driver's domain or without one. */
export function* validateQualifiedName(name: string, path: field.Path): Findings {
  const parts = name.split('/')
  const [first = '', second = ''] = parts
  if (parts.length === 1) {
    yield* validateIdentifier(first, path)
  } else if (parts.length === 2) {
    if (first === '') yield field.invalid(path, '', 'the domain must not be empty')
    else yield* validateDriverName(first, path)
    if (second === '') yield field.invalid(path, '', 'the name must not be empty')
    else yield* validateIdentifier(second, path)
  }
}

export function* validateFullyQualifiedName(name: string, path: field.Path): Findings {
  yield* validateQualifiedName(name, path)
  if (!name.includes('/'))
    yield field.invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash')
}

function* validateIdentifier(id: string, path: field.Path): Findings {
  if (id.length > identifierMax) yield field.tooLong(path, identifierMax)
  yield* invalidBecause(path, id, isCIdentifier(id))
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function* validateShareID(id: unknown, path: field.Path): Findings {
  if (typeof id !== 'string' || uuid.test(id)) return
  const detail = uuid.test(id.toLowerCase())
    ? 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'
    : `error validating uid: ${id.length === 36 ? 'invalid UUID format' : `invalid UUID length: ${id.length}`}`
  yield field.invalid(path, id, detail)
}

/** Items beyond `max` are not validated one by one. A negative `max` means no limit. */
export function* validateItems<T>(
  items: readonly T[],
  max: number,
  rule: Rule<T>,
  path: field.Path,
): Findings {
  if (max >= 0 && items.length > max) {
    yield field.tooMany(path, items.length, max)
    return
  }
  for (const [index, item] of items.entries()) yield* rule(item, path.index(index))
}

/** Items of which no two have the same key. */
export function* validateSet<T>(
  items: readonly T[],
  max: number,
  rules: {
    readonly rule: Rule<T>
    readonly keyOf: (item: T) => string
    readonly print?: (item: T) => unknown
  },
  path: field.Path,
): Findings {
  yield* validateItems(items, max, rules.rule, path)
  if (max >= 0 && items.length > max) return
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const key = rules.keyOf(item)
    if (seen.has(key)) yield field.duplicate(path.index(index), rules.print?.(item) ?? key)
    seen.add(key)
  }
}

/** Errors about a key are reported at the map, those about a value at its key. */
export function* validateMap<V>(
  map: Readonly<Record<string, V>> | null | undefined,
  rules: {
    readonly max?: number
    readonly keyMax?: number
    readonly key: Rule<string>
    readonly value?: Rule<V>
  },
  path: field.Path,
): Findings {
  const entries = Object.entries(map ?? {})
  if (rules.max !== undefined && entries.length > rules.max) {
    yield field.tooMany(path, entries.length, rules.max)
    return
  }
  for (const [key, value] of entries) {
    yield* rules.key(key, path)
    if (rules.value) yield* rules.value(value, path.key(shorten(key, rules.keyMax ?? qualifiedNameMax)))
  }
}

function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  const left = max - 3
  return `${text.slice(0, Math.floor((left + 1) / 2))}...${text.slice(text.length - Math.floor(left / 2))}`
}
