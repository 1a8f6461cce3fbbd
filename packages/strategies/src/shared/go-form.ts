import { isObject, type JsonObject } from '@coxswain/apimachinery/json'

/**
 * Upstream validates Go structs without JSON names, and some messages print them. A form says what such a struct looks
 * like: its members in Go's order, under Go's names, with zero values where there is nothing.
 */
export type GoForm = (source: JsonObject) => unknown

export const text =
  (json: string): GoForm =>
  source =>
    source[json] ?? ''

export const number =
  (json: string): GoForm =>
  source =>
    source[json] ?? 0

export const flag =
  (json: string): GoForm =>
  source =>
    source[json] ?? false

/** A pointer to a plain value, a list of plain values or a map: null when there is none. */
export const plain =
  (json: string): GoForm =>
  source =>
    sortMap(source[json])

/** A struct, or a pointer to one: null when there is none. */
export const pointer =
  (json: string, form: GoForm): GoForm =>
  source => {
    const value = source[json]
    return isObject(value) ? form(value) : null
  }

/** A struct within the struct. */
export const embedded =
  (json: string, form: GoForm): GoForm =>
  source => {
    const value = source[json]
    return form(isObject(value) ? value : {})
  }

export const list =
  (json: string, form: GoForm): GoForm =>
  source => {
    const value = source[json]
    return Array.isArray(value) ? value.filter(isObject).map(form) : null
  }

export function struct(members: Readonly<Record<string, GoForm>>): GoForm {
  const forms = Object.entries(members)
  return source => Object.fromEntries(forms.map(([name, form]) => [name, form(source)]))
}

function sortMap(value: unknown): unknown {
  if (!isObject(value)) return value ?? null
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
