import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import { writeJson } from '@coxswain/apimachinery/json'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

/** No vowels and none of the digits that look like them, so that no word comes out; the same as upstream's. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/** The value of the label pod-template-hash: equal for equal templates, whatever the order of their keys. */
export function hashPodTemplate(template: DeepReadonly<PodTemplateSpec>, collisions = 0): string {
  const text = writeJson(sortKeys(template)) + (collisions > 0 ? String(collisions) : '')
  let hash = fnvOffset
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), fnvPrime) >>> 0
  return encodeHash(hash)
}

/** The hash in the name of a ControllerRevision, equal to upstream's: a StatefulSet can move between controller managers. */
export function hashControllerRevision(data: Record<string, unknown>, collisions: number): string {
  const bytes = new TextEncoder().encode(writeGoJson(data) + String(collisions))
  let hash = fnvOffset
  for (const byte of bytes) hash = (Math.imul(hash, fnvPrime) ^ byte) >>> 0
  return encodeHash(hash)
}

/** JSON as Go writes it: safe inside HTML. */
function writeGoJson(value: Record<string, unknown>): string {
  return writeJson(value).replace(
    /[<>&\u2028\u2029]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function encodeHash(hash: number): string {
  return [...String(hash)].map(digit => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

/** The same value with the keys of every object in order. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]))
}
