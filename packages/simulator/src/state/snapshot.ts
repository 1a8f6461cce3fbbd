import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type Client, kindFor } from '@coxswain/client'
import { type ApiPath, resourceOf } from '../world/trace.ts'

/** A resource, as far as listing it goes. */
export type ResourceRef = Pick<ApiPath, 'group' | 'version' | 'resource'>

/** Objects as text, by key: `RESOURCE NAMESPACE/NAME`, then path within the object. Ids, times and generated names are replaced. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Reads all objects of the resources. */
export async function takeSnapshot(client: Client, resources: Iterable<ResourceRef>): Promise<Snapshot> {
  const found: { readonly resource: string; readonly object: JsonObject }[] = []
  for (const ref of resources) {
    const kind = kindFor({ ...ref, kind: ref.resource, namespaced: true })
    const { items } = await client.list(kind)
    for (const object of items)
      found.push({ resource: resourceOf(ref), object: object as unknown as JsonObject })
  }
  return describe(found)
}

function describe(found: readonly { readonly resource: string; readonly object: JsonObject }[]): Snapshot {
  const uids = new Set(found.map(({ object }) => metaOf(object).uid))
  const aliases = new Map<string, string>()
  for (const { object } of found) {
    const { name, generateName } = metaOf(object)
    if (typeof generateName === 'string' && typeof name === 'string') aliases.set(name, `${generateName}*`)
  }
  const drafts = found.map(({ resource, object }) => {
    const { namespace, name } = metaOf(object)
    const alias = aliases.get(String(name)) ?? String(name)
    const fields = new Map<string, string>()
    flatten(normalise(object, uids), '', { fields, aliases })
    const key = `${resource} ${namespace === undefined ? '' : `${String(namespace)}/`}${alias}`
    return { key, fields, text: JSON.stringify([...fields]) }
  })
  drafts.sort((a, b) => compare(a.key, b.key) || compare(a.text, b.text))
  const snapshot = new Map<string, ReadonlyMap<string, string>>()
  for (const { key, fields } of drafts) {
    let unique = key
    for (let index = 2; snapshot.has(unique); index++) unique = `${key} (${index})`
    snapshot.set(unique, fields)
  }
  return snapshot
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const metaOf = (object: JsonObject): JsonObject =>
  isObject(object.metadata) ? (object.metadata as JsonObject) : {}

/** Fields that differ in every run, or say nothing about the result. */
const dropped = new Set([
  'uid',
  'resourceVersion',
  'managedFields',
  'creationTimestamp',
  'selfLink',
  'generation',
  'generateName',
])

function normalise(object: JsonObject, uids: ReadonlySet<unknown>): JsonObject {
  const { metadata: _, apiVersion: __, ...rest } = object
  const metadata: JsonObject = {}
  for (const [key, value] of Object.entries(metaOf(object))) {
    if (dropped.has(key) || key === 'name' || key === 'namespace') continue
    metadata[key] =
      key === 'ownerReferences' && Array.isArray(value) ? value.map(each => ownerOf(each, uids)) : value
  }
  return { ...rest, metadata }
}

/** An owner by name; one that does not exist (any more) is marked. */
function ownerOf(reference: unknown, uids: ReadonlySet<unknown>): string {
  const { kind, name, uid, controller } = reference as Record<string, unknown>
  return `${String(kind)}/${String(name)}${controller === true ? ' (controller)' : ''}${uids.has(uid) ? '' : ' [another or deleted object]'}`
}

interface Flattening {
  readonly fields: Map<string, string>
  readonly aliases: ReadonlyMap<string, string>
}

function flatten(value: unknown, path: string, into: Flattening): void {
  if (Array.isArray(value)) {
    if (value.length === 0) into.fields.set(path, '[]')
    for (const [index, item] of value.entries()) flatten(item, `${path}[${index}]`, into)
  } else if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0 && path !== '.metadata') into.fields.set(path, '{}')
    for (const [key, member] of entries) flatten(member, `${path}.${key}`, into)
  } else into.fields.set(path, typeof value === 'string' ? mask(value, into.aliases) : String(value))
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function mask(text: string, aliases: ReadonlyMap<string, string>): string {
  if (timePattern.test(text)) return '<time>'
  if (uidPattern.test(text)) return '<uid>'
  return JSON.stringify(aliases.get(text) ?? text)
}
