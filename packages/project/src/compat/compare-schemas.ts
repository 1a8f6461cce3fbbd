import { deepEqual } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'
import type { CompatFinding } from './finding.ts'
import { findTightenings } from './schema-constraints.ts'

/** What a change of a schema means, without the place in a CRD. */
export type SchemaFinding = Pick<CompatFinding, 'severity' | 'path' | 'problem' | 'remedy'>

const preserve = 'x-kubernetes-preserve-unknown-fields'
const intOrString = 'x-kubernetes-int-or-string'
const anything: Schema = { [preserve]: true }

const ratcheted =
  'Kubernetes 1.33 and later accept updates that leave an existing value unchanged, older servers and new objects do not'
const notRatcheted = 'This holds for updates of existing objects, too, even where the value is unchanged'

/** What values that are valid under `old` lose under `next`: rejections, pruned fields, other defaults. */
export function compareSchemas(old: Schema, next: Schema, path = ''): SchemaFinding[] {
  const found: SchemaFinding[] = []
  compareNodes({ old, next, path }, found)
  return found
}

interface Nodes {
  readonly old: Schema
  readonly next: Schema
  readonly path: string
}

function compareNodes(nodes: Nodes, found: SchemaFinding[]): void {
  const { old, next, path } = nodes
  if (deepEqual(old, next)) return
  const error = (problem: string, remedy: string): void => {
    found.push({ severity: 'error', path, problem, remedy })
  }
  const types = [typeName(old), typeName(next)] as const
  if (!isWider(old, next)) {
    error(
      `the type was ${types[0]} and is ${types[1]}: other values are rejected`,
      'Keep the type in this version, and add a field of the new type, or a new version with a conversion',
    )
    return
  }
  if (old.nullable === true && next.nullable !== true && next.default === undefined)
    error('null is rejected or dropped', 'Keep nullable: true in this version')
  for (const { problem, remedy, isRatcheted } of findTightenings(old, next))
    error(`${problem}. ${isRatcheted ? ratcheted : notRatcheted}`, remedy)
  compareMerging(nodes, found)
  if (old.items !== undefined && next.items !== undefined)
    compareNodes({ old: old.items, next: next.items, path: `${path}[]` }, found)
  compareEmbedding(nodes, found)
  compareFields(nodes, found)
}

/** `any` accepts everything. */
function typeName(schema: Schema): string {
  if (schema[intOrString] === true) return 'integer or string'
  return schema.type ?? 'any'
}

function isWider(old: Schema, next: Schema): boolean {
  const [was, is] = [typeName(old), typeName(next)]
  if (was === is || is === 'any') return true
  if (is === 'integer or string') return was === 'integer' || was === 'string'
  return was === 'integer' && is === 'number'
}

function compareMerging({ old, next, path }: Nodes, found: SchemaFinding[]): void {
  if (next.type === 'array') {
    const list = ({
      'x-kubernetes-list-type': type = 'atomic',
      'x-kubernetes-list-map-keys': keys = [],
    }: Schema) => (type === 'map' ? `map with keys ${keys.join(', ')}` : type)
    if (list(old) === list(next)) return
    const isStricter = next['x-kubernetes-list-type'] === 'map' || next['x-kubernetes-list-type'] === 'set'
    found.push({
      severity: isStricter ? 'error' : 'warning',
      path,
      problem: `the list type was ${list(old)} and is ${list(next)}: ${isStricter ? 'lists with repeated items are rejected, and ' : ''}server-side apply merges it in another way, so that fields of other managers may be removed. ${notRatcheted}`,
      remedy: 'Keep the list type and its keys in this version',
    })
    return
  }
  const [was, is] = [old, next].map(schema => schema['x-kubernetes-map-type'] ?? 'granular')
  if (next.type === 'object' && was !== is)
    found.push({
      severity: 'warning',
      path,
      problem: `the map type was ${was} and is ${is}: server-side apply merges it in another way`,
      remedy: 'Keep the map type in this version',
    })
}

function compareEmbedding({ old, next, path }: Nodes, found: SchemaFinding[]): void {
  const flag = 'x-kubernetes-embedded-resource'
  if (old[flag] === next[flag]) return
  const isNew = next[flag] === true
  if (!isNew && next[preserve] === true) return
  found.push({
    severity: 'error',
    path,
    problem: isNew
      ? `it has to be a whole object now: without apiVersion, kind and valid metadata it is rejected. ${notRatcheted}`
      : 'it is no embedded object any more: apiVersion, kind and metadata are dropped',
    remedy: `Keep ${flag} in this version`,
  })
}

function compareFields({ old, next, path }: Nodes, found: SchemaFinding[]): void {
  if (next.type !== 'object' && next.properties === undefined && next.additionalProperties === undefined)
    return
  const field = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const before = new Map(Object.entries(old.properties ?? {}))
  const after = new Map(Object.entries(next.properties ?? {}))
  const oldRest = restOf(old)
  const newRest = restOf(next)
  for (const [name, property] of before) {
    const kept = after.get(name) ?? newRest
    if (kept !== undefined) compareNodes({ old: property, next: kept, path: field(name) }, found)
    else
      found.push({
        severity: 'error',
        path: field(name),
        problem:
          'the field was removed: servers drop it from new and stored objects, and clients with strict validation are rejected',
        remedy:
          'Keep the field in this version, deprecate it in its description, and remove it in a new version',
      })
  }
  for (const [name, property] of after) {
    if (before.has(name) || oldRest === undefined) continue
    compareNodes({ old: oldRest, next: property, path: field(name) }, found)
  }
  if (oldRest !== undefined && newRest === undefined)
    found.push({
      severity: 'error',
      path,
      problem: `fields that the schema does not list were kept and are dropped now. ${notRatcheted}`,
      remedy: `Keep ${old[preserve] === true ? preserve : 'additionalProperties'} in this version, or list the fields`,
    })
  else if (oldRest !== undefined && newRest !== undefined)
    compareNodes({ old: oldRest, next: newRest, path: `${path}{}` }, found)
  compareRequired({ old, next, path }, found)
  const filled = [...after].filter(([name, property]) => property.default !== undefined && !before.has(name))
  const counted = (['maxProperties', 'oneOf', 'anyOf', 'allOf', 'not'] as const).filter(
    keyword => next[keyword],
  )
  if (filled.length > 0 && counted.length > 0)
    found.push({
      severity: 'error',
      path,
      problem: `the new default of ${filled.map(([name]) => name).join(', ')} may break ${counted.join(', ')}: objects without the field get it`,
      remedy: 'Give a new field no default here',
    })
  for (const [name, property] of after)
    compareDefaults(before.get(name), property, { path: field(name), found })
}

/** The schema of fields that are not listed; undefined where they are pruned. */
function restOf(schema: Schema): Schema | undefined {
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties
  const isOpen =
    schema[preserve] === true || schema.additionalProperties === true || typeName(schema) === 'any'
  return isOpen ? anything : undefined
}

function compareRequired({ old, next, path }: Nodes, found: SchemaFinding[]): void {
  for (const name of next.required ?? []) {
    const property = next.properties?.[name]
    if (property?.default !== undefined) continue
    const before = old.properties?.[name]
    const wasThere = old.required?.includes(name) === true || before?.default !== undefined
    if (wasThere && old.required?.includes(name) === true && before?.default === undefined) continue
    found.push({
      severity: 'error',
      path: path === '' ? name : `${path}.${name}`,
      problem: `the field is required${wasThere ? ' and has no default any more' : ' now'}: objects without it are rejected. ${notRatcheted}`,
      remedy: 'Make it optional in this version, or give it a default',
    })
  }
}

function compareDefaults(
  old: Schema | undefined,
  next: Schema,
  { path, found }: { readonly path: string; readonly found: SchemaFinding[] },
): void {
  const was = old?.default
  const is = next.default
  if (deepEqual(was, is) || old === undefined) return
  const change =
    was === undefined
      ? `the default ${JSON.stringify(is)} is new`
      : is === undefined
        ? `the default ${JSON.stringify(was)} was removed`
        : `the default was ${JSON.stringify(was)} and is ${JSON.stringify(is)}`
  found.push({
    severity: 'warning',
    path,
    problem: `${change}: existing objects without the field are read in another way`,
    remedy: 'Keep the default in this version, or handle both values in the controller',
  })
}
