import type { Container, PodSpec } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'

/** Field errors in the order in which they are found. */
export type Findings = Generator<FieldError, void, undefined>

/** Texts of warnings. There can be many more than a response has room for, so they are generated on demand. */
export type WarningTexts = Generator<string, void, undefined>

/** The rules of a PodSpec differ slightly between a Pod and a PodTemplateSpec. */
export interface PodRules {
  readonly isPod: boolean
}

/** A list of objects; empty for any other value. */
export const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : [])
/** A list of strings; empty for any other value. */
export const stringsOf = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : [])
/** A string; empty for any other value. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
/** A number; 0 for any other value. */
export const numberOf = (value: unknown): number =>
  value === undefined || value === null ? 0 : Number(value)
/** A map of strings; empty for any other value. */
export const recordOf = (value: unknown): Record<string, string> =>
  isObject(value) ? (value as Record<string, string>) : {}
/** An object; empty for any other value. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Items by name; of several with one name, the first. */
export function byName<T extends { readonly name?: unknown }>(items: readonly T[]): ReadonlyMap<unknown, T> {
  return new Map(items.map(item => [item.name, item] as const).reverse())
}

/** One error about `value` for each message. */
export function* invalidBecause(path: field.Path, value: unknown, messages: readonly string[]): Findings {
  for (const message of messages) yield field.invalid(path, value, message)
}

export function* validateDNSLabel(value: string, path: field.Path): Findings {
  yield* invalidBecause(path, value, isDNS1123Label(value))
}

export function* validateDNSSubdomain(value: string, path: field.Path): Findings {
  yield* invalidBecause(path, value, isDNS1123Subdomain(value))
}

export function* validateQualifiedName(value: string, path: field.Path): Findings {
  yield* invalidBecause(path, value, isQualifiedName(value))
}

export function* validateNonnegative(value: unknown, path: field.Path): Findings {
  if (numberOf(value) < 0) yield field.invalid(path, value, 'must be greater than or equal to 0')
}

export function* validatePositive(value: unknown, path: field.Path): Findings {
  if (numberOf(value) <= 0) yield field.invalid(path, value ?? 0, 'must be greater than zero')
}

/** Required, and one of `supported`; `listed` is how an error names them. */
export function* validateChoice(
  value: unknown,
  supported: readonly string[],
  path: field.Path,
  listed: readonly string[] = supported,
): Findings {
  if (textOf(value) === '') yield field.required(path)
  else if (!supported.includes(value as string)) yield field.notSupported(path, value, listed)
}

/** One of `supported`; an empty value is none of them. */
export function* validateOneOf(value: unknown, supported: readonly string[], path: field.Path): Findings {
  if (!supported.includes(textOf(value))) yield field.notSupported(path, textOf(value), supported)
}

export function* requireMembers<T>(
  object: T,
  members: readonly (keyof T & string)[],
  path: field.Path,
): Findings {
  for (const member of members) if (textOf(object[member]) === '') yield field.required(path.child(member))
}

/** Init, normal and ephemeral containers with their paths. */
export function* containersWithPath(
  spec: Decoded<PodSpec>,
  path: field.Path,
): Generator<[Decoded<Container>, field.Path]> {
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const at = path.child(kind)
    for (const [index, container] of (spec[kind] ?? []).entries()) yield [container, at.index(index)]
  }
}

/** A value that prints as the Go struct it is upstream. */
export const printed = (value: unknown): field.Printed => field.Printed.inOrder(value)
