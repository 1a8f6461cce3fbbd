import type { PodTemplateSpec } from '@coxswain/api/core/v1'
import { writeJson } from '@coxswain/apimachinery/json'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

/** Digits spelled so that no word comes out, as upstream does it. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A short name of a template: the same for the same, whatever the order of its keys. */
export function hashTemplate(template: DeepReadonly<PodTemplateSpec>, collisions = 0): string {
  const text = writeJson(sorted(template)) + (collisions > 0 ? String(collisions) : '')
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index)
    hash = Math.imul(hash, 0x01000193) >>> 0
  }
  return spellHash(hash)
}

/** A number as part of a name. */
export function spellHash(hash: number): string {
  return [...String(hash)].map(digit => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

/** The same value with the keys of every object in order. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
