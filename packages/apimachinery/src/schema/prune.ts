import type { Schema } from './schema.ts'
import { tooDeep } from './too-deep.ts'

export interface PruneOptions {
  /** The value is a custom resource: its apiVersion, kind and metadata are not subject to the schema. */
  readonly resourceRoot?: boolean
}

/** As in Kubernetes' strict decoder: at most this many unknown fields are reported. */
const maxReported = 100

/**
 * Removes unspecified fields in place, and returns their paths (`spec.foo`,
 * `spec.containers[0].bar`), the first hundred, in the order of the document. Metadata of embedded resources is left
 * alone: see `coerceEmbedded`.
 */
export function prune(schema: Schema, value: unknown, options: PruneOptions = {}): string[] {
  const walk: Walk = { path: [], unknown: [] }
  try {
    if (options.resourceRoot === true && !isEmbedded(schema)) {
      visit({ ...planOf(schema), embedded: true }, value, walk)
    } else {
      visit(planOf(schema), value, walk)
    }
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
  return walk.unknown
}

interface Walk {
  readonly path: (string | number)[]
  readonly unknown: string[]
}

/** What pruning needs of a schema. */
interface Plan {
  readonly preserve: boolean
  readonly embedded: boolean
  readonly properties: ReadonlyMap<string, Child>
  /** Of other members; `none` when they are allowed but nothing inside them is. */
  readonly additional: Child | typeof none | undefined
  readonly items: Child | typeof none
}

const none = null

/** A schema below another one. Schemas may form cycles, so its plan is made when a value first reaches it. */
class Child {
  readonly #schema: Schema
  #plan: Plan | undefined

  constructor(schema: Schema) {
    this.#schema = schema
  }

  get plan(): Plan {
    this.#plan ??= planOf(this.#schema)
    return this.#plan
  }
}

const plans = new WeakMap<Schema, Plan>()

function planOf(schema: Schema): Plan {
  let plan = plans.get(schema)
  if (plan === undefined) {
    const { additionalProperties } = schema
    const children = Object.entries(schema.properties ?? {}).map(
      ([key, child]) => [key, new Child(child)] as const,
    )
    plan = {
      preserve: schema['x-kubernetes-preserve-unknown-fields'] === true,
      embedded: isEmbedded(schema),
      properties: new Map(children),
      additional:
        typeof additionalProperties === 'object'
          ? new Child(additionalProperties)
          : additionalProperties
            ? none
            : undefined,
      items: schema.items === undefined ? none : new Child(schema.items),
    }
    plans.set(schema, plan)
  }
  return plan
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true
}

function visitChild(child: Child | typeof none, value: unknown, walk: Walk): void {
  if (typeof value !== 'object' || value === null) return
  if (child === none) removeAll(value, walk)
  else visit(child.plan, value, walk)
}

function visit(plan: Plan, value: unknown, walk: Walk): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    // Items of a free-form list are free-form themselves unless their schema says otherwise.
    if (plan.preserve && plan.items === none) return
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (typeof item !== 'object' || item === null) continue
      walk.path.push(i)
      if (plan.preserve && plan.items !== none) visit({ ...plan.items.plan, preserve: true }, item, walk)
      else visitChild(plan.items, item, walk)
      walk.path.pop()
    }
    return
  }
  const object = value as Record<string, unknown>
  for (const key in object) {
    if (plan.embedded && (key === 'metadata' || key === 'apiVersion' || key === 'kind')) continue
    const child = plan.properties.get(key) ?? plan.additional
    if (child === undefined) {
      if (!plan.preserve) remove(object, key, walk)
      continue
    }
    const member = object[key]
    if (typeof member !== 'object' || member === null) continue
    walk.path.push(key)
    visitChild(child, member, walk)
    walk.path.pop()
  }
}

/** What stands where the schema allows a value but specifies nothing about it: objects there end up empty. */
function removeAll(value: object, walk: Walk): void {
  if (!Array.isArray(value)) {
    for (const key of Object.keys(value)) remove(value as Record<string, unknown>, key, walk)
    return
  }
  for (const [i, item] of value.entries()) {
    walk.path.push(i)
    visitChild(none, item, walk)
    walk.path.pop()
  }
}

function remove(object: Record<string, unknown>, key: string, walk: Walk): void {
  delete object[key]
  if (walk.unknown.length < maxReported) walk.unknown.push(formatPath([...walk.path, key]))
}

/** `spec.list[0].key`: keys as they are, as in Kubernetes' strict decoding errors. */
export function formatPath(steps: readonly (string | number)[]): string {
  let path = ''
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  return path
}
