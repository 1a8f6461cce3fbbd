import type { Schema } from '@coxswain/apimachinery/schema'

/** One way down a schema: the name of a member, the first element of a list, or the value of a map's first key. */
export interface Step {
  readonly key: string | 0
  /** What stands there. */
  readonly schema: Schema
}

/** A list, a map or a string that a client can make as long as it likes. */
export interface Spot {
  readonly steps: readonly Step[]
  readonly schema: Schema
  readonly form: 'list' | 'map' | 'string'
}

export const mapKey = 'k'

/**
 * Which types are descended into: `all`, but none inside itself; or each once only, and those that `skip` names not at all.
 */
export interface Walk {
  readonly all: boolean
  skip(name: string): boolean
}

/** Everything in objects of `schema` that can grow, outermost first. */
export function findSpots(schema: Schema, walk: Walk): readonly Spot[] {
  const spots: Spot[] = []
  const seen = new Set<Schema>()
  const visit = (node: Schema, steps: readonly Step[], inside: ReadonlySet<Schema>): void => {
    const form = formOf(node)
    if (form && steps.length > 0) spots.push({ steps, schema: node, form })
    const around = new Set(inside).add(node)
    const enter = (key: Step['key'], child: Schema): void => {
      if (around.has(child)) return
      if (child.properties && child.name !== undefined) {
        if (!walk.all && (seen.has(child) || walk.skip(child.name))) return
        seen.add(child)
      }
      visit(child, [...steps, { key, schema: child }], around)
    }
    for (const [key, child] of Object.entries(node.properties ?? {})) {
      // The server writes these itself, and what clients send is other than the schema says.
      if (steps.length === 0 && (key === 'apiVersion' || key === 'kind')) continue
      enter(key, child)
    }
    if (form === 'list') enter(0, node.items ?? {})
    if (form === 'map' && typeof node.additionalProperties === 'object')
      enter(mapKey, node.additionalProperties)
  }
  visit(schema, [], new Set())
  return spots
}

function formOf(schema: Schema): Spot['form'] | undefined {
  if (schema.type === 'array') return 'list'
  if (schema.type === 'string' || schema['x-kubernetes-int-or-string']) return 'string'
  if (schema.additionalProperties || schema['x-kubernetes-preserve-unknown-fields']) return 'map'
  return undefined
}

/** `spec.containers[].name` */
export function describeSpot({ steps }: Spot): string {
  return steps.reduce((path, { key }) => (key === 0 ? `${path}[]` : path ? `${path}.${key}` : key), '')
}
