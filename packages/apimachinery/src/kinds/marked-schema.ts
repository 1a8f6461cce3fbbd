import type { Schema } from '../schema/schema.ts'

/** The member of a schema that names its feature gate. A symbol: it is not part of what is written. */
export const featureGate: unique symbol = Symbol.for('coxswain.apimachinery.featureGate') as never

/** The member of a schema whose value may not change. */
export const immutable: unique symbol = Symbol.for('coxswain.apimachinery.immutable') as never

/** A schema with members that are for its parent, not for servers. */
export type MarkedSchema = Schema & { readonly [featureGate]?: string; readonly [immutable]?: true }

/** The schema without the fields whose gate is not enabled. */
export function withoutGatedFields(schema: Schema, enabled: ReadonlySet<string>): Schema {
  const { properties, items, additionalProperties, required } = schema
  const kept = Object.entries(properties ?? {}).filter(([, property]) => {
    const gate = (property as MarkedSchema)[featureGate]
    return gate === undefined || enabled.has(gate)
  })
  const names = new Set(kept.map(([name]) => name))
  const { required: _, ...rest } = schema
  const stillRequired = required?.filter(name => names.has(name) || properties?.[name] === undefined) ?? []
  return {
    ...rest,
    ...(stillRequired.length > 0 && { required: stillRequired }),
    ...(properties && {
      properties: Object.fromEntries(
        kept.map(([name, property]) => [name, withoutGatedFields(property, enabled)]),
      ),
    }),
    ...(items && { items: withoutGatedFields(items, enabled) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withoutGatedFields(additionalProperties, enabled),
    }),
  }
}
