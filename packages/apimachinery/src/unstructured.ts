/**
 * Access to objects whose type is not known. A path has a string for a member of an object and a number for an element
 * of a list. What is not there, or is below a null, is undefined; something of another type than asked for is an error
 * that names the path and the type found. No path reaches a prototype.
 */
import { MachineryError } from './errors.ts'
import { deepCopyJson, setOwn } from './internal/deep-copy.ts'
import { printJson } from './internal/print-value.ts'
import { quote } from './internal/quote.ts'

export type FieldStep = string | number
export type Unstructured = Record<string, unknown>

/** @throws MachineryError `BadFieldPath` when something on the way is neither object nor list */
export function nestedField(object: unknown, ...path: readonly FieldStep[]): unknown {
  let value = object
  for (const [depth, step] of path.entries()) {
    if (value === undefined || value === null) return undefined
    value = member(value, step, path.slice(0, depth))
  }
  return value
}

function member(value: unknown, step: FieldStep, path: readonly FieldStep[]): unknown {
  if (typeof step === 'number') {
    if (!Array.isArray(value)) throw typeError(path, value, 'array')
    return value[step]
  }
  if (!isObject(value)) throw typeError(path, value, 'object')
  return Object.hasOwn(value, step) ? value[step] : undefined
}

/** @throws MachineryError `BadFieldPath` */
export function nestedString(object: unknown, ...path: readonly FieldStep[]): string | undefined {
  return typed(object, path, 'string', (value): value is string => typeof value === 'string')
}

/** @throws MachineryError `BadFieldPath` */
export function nestedBoolean(object: unknown, ...path: readonly FieldStep[]): boolean | undefined {
  return typed(object, path, 'boolean', (value): value is boolean => typeof value === 'boolean')
}

/** A number, whole or not; never a bigint. @throws MachineryError `BadFieldPath` */
export function nestedNumber(object: unknown, ...path: readonly FieldStep[]): number | undefined {
  return typed(object, path, 'number', (value): value is number => typeof value === 'number')
}

/** A whole number: a bigint where it is beyond 2^53. @throws MachineryError `BadFieldPath` */
export function nestedInteger(object: unknown, ...path: readonly FieldStep[]): number | bigint | undefined {
  return typed(
    object,
    path,
    'integer',
    (value): value is number | bigint => typeof value === 'bigint' || Number.isInteger(value),
  )
}

/** @throws MachineryError `BadFieldPath` */
export function nestedArray(object: unknown, ...path: readonly FieldStep[]): unknown[] | undefined {
  return typed(object, path, 'array', (value): value is unknown[] => Array.isArray(value))
}

/** @throws MachineryError `BadFieldPath` */
export function nestedObject(object: unknown, ...path: readonly FieldStep[]): Unstructured | undefined {
  return typed(object, path, 'object', isObject)
}

/** A list of strings only. @throws MachineryError `BadFieldPath` */
export function nestedStringArray(object: unknown, ...path: readonly FieldStep[]): string[] | undefined {
  const list = nestedArray(object, ...path)
  list?.forEach((item, index) => {
    if (typeof item !== 'string') throw typeError([...path, index], item, 'string')
  })
  return list as string[] | undefined
}

/** A map of strings only, such as labels. @throws MachineryError `BadFieldPath` */
export function nestedStringMap(
  object: unknown,
  ...path: readonly FieldStep[]
): Record<string, string> | undefined {
  const map = nestedObject(object, ...path)
  for (const [key, value] of Object.entries(map ?? {})) {
    if (typeof value !== 'string') throw typeError([...path, key], value, 'string')
  }
  return map as Record<string, string> | undefined
}

function typed<T>(
  object: unknown,
  path: readonly FieldStep[],
  expected: string,
  is: (value: unknown) => value is T,
): T | undefined {
  const value = nestedField(object, ...path)
  if (value === undefined || is(value)) return value
  throw typeError(path, value, expected)
}

/**
 * Puts a copy of `value` there, making the objects on the way that are missing. A list takes an element that it has, or
 * one more at its end.
 * @throws MachineryError `BadFieldPath`
 */
export function setNestedField(object: Unstructured, value: unknown, ...path: readonly FieldStep[]): void {
  const last = lastStep(path)
  let at: unknown = object
  for (const [depth, step] of path.slice(0, -1).entries()) {
    let next = member(at, step, path.slice(0, depth))
    if (next === undefined) {
      next = typeof path[depth + 1] === 'number' ? [] : {}
      put(at, step, next, path.slice(0, depth))
    }
    at = next
  }
  put(at, last, deepCopyJson(value), path.slice(0, -1))
}

function put(target: unknown, step: FieldStep, value: unknown, path: readonly FieldStep[]): void {
  if (typeof step === 'number') {
    if (!Array.isArray(target)) throw typeError(path, target, 'array')
    if (!Number.isInteger(step) || step < 0 || step > target.length) {
      const message = `${formatPath(path)} accessor error: index ${step} is not within a list of ${target.length}`
      throw new MachineryError('BadFieldPath', message)
    }
    target[step] = value
  } else {
    if (!isObject(target)) throw typeError(path, target, 'object')
    setOwn(target, step, value)
  }
}

/** Removes a member or an element; what is not there is removed already. @throws MachineryError `BadFieldPath` */
export function removeNestedField(object: Unstructured, ...path: readonly FieldStep[]): void {
  const last = lastStep(path)
  const parent = nestedField(object, ...path.slice(0, -1))
  if (parent === undefined || parent === null) return
  if (member(parent, last, path.slice(0, -1)) === undefined && typeof last === 'number') return
  if (typeof last === 'number') (parent as unknown[]).splice(last, 1)
  else delete (parent as Unstructured)[last]
}

function lastStep(path: readonly FieldStep[]): FieldStep {
  const last = path.at(-1)
  if (last === undefined) throw new MachineryError('BadFieldPath', 'a path needs at least one step')
  return last
}

function isObject(value: unknown): value is Unstructured {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeError(path: readonly FieldStep[], value: unknown, expected: string): MachineryError {
  const shown = shorten(printJson(value))
  const message = `${formatPath(path)} accessor error: ${shown} is of the type ${typeName(value)}, expected ${expected}`
  return new MachineryError('BadFieldPath', message)
}

const shownLength = 100

function shorten(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength)}...` : text
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'integer' : typeof value
}

// `.spec.containers[0]["a.b"]`
function formatPath(path: readonly FieldStep[]): string {
  const steps = path.map(step => {
    if (typeof step === 'number') return `[${step}]`
    return /^[\w-]+$/.test(step) ? `.${step}` : `[${quote(step)}]`
  })
  return steps.join('') || '.'
}
