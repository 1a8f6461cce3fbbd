/** Definitions without prose and order, so that those of two generators can be compared. */
import { deepEqual } from '@coxswain/apimachinery/json'

type Json = Readonly<Record<string, unknown>>

const generatorAnnotation = 'controller-gen.kubebuilder.io/version'

/** Lists that are sets: their order has no meaning. */
const unordered = new Set([
  'required',
  'enum',
  'x-kubernetes-validations',
  'shortNames',
  'categories',
  'verbs',
  'operations',
])

/** The object without descriptions and the generator's annotation, with sorted keys and sets. */
export function canonical(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map(item => canonical(item))
    return unordered.has(key) ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(
      ([name, member]) => !(name === 'description' && typeof member === 'string') || isColumn(value as Json),
    )
    .filter(([name]) => name !== generatorAnnotation)
    .map(([name, member]) => [name, canonical(member, name)] as const)
    .filter(([name, member]) => !(name === 'annotations' && deepEqual(member, {})))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members)
}

/** The description of a column is shown by kubectl: it counts. */
function isColumn(value: Json): boolean {
  return typeof value.jsonPath === 'string'
}
