import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type Client, kindFor } from '@coxswain/client'
import { touchedAnnotation } from '../world/others.ts'
import { type ApiPath, resourceOf } from '../world/trace.ts'

/** A resource, as far as listing it goes. */
export type ResourceRef = Pick<ApiPath, 'group' | 'version' | 'resource'>

/** Objects as text, by key: `RESOURCE NAMESPACE/NAME`, then path within the object. Ids, times and generated names are replaced. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<string, string>>

/** An object, and the resource it was listed in. */
export interface FoundObject {
  /** `apps/deployments`, or `pods` in the core group. */
  readonly resource: string
  readonly object: JsonObject
}

/** Reads all objects of the resources. */
export async function takeSnapshot(client: Client, resources: Iterable<ResourceRef>): Promise<Snapshot> {
  return describeObjects(await listObjects(client, resources))
}

export async function listObjects(client: Client, resources: Iterable<ResourceRef>): Promise<FoundObject[]> {
  const found: FoundObject[] = []
  for (const ref of resources) {
    const kind = kindFor({ ...ref, kind: ref.resource, namespaced: true })
    const { items } = await client.list(kind)
    for (const object of items)
      found.push({ resource: resourceOf(ref), object: object as unknown as JsonObject })
  }
  return found
}

/** Objects as text. */
export function describeObjects(found: readonly FoundObject[]): Snapshot {
  const uids = new Set(found.map(({ object }) => metaOf(object).uid))
  const aliases = new Map<string, string>()
  for (const { object } of found) {
    const { name, generateName } = metaOf(object)
    if (typeof generateName === 'string' && typeof name === 'string') aliases.set(name, `${generateName}*`)
  }
  const drafts = found.map(({ resource, object }) => {
    const { namespace, name } = metaOf(object)
    const alias = aliases.get(String(name)) ?? name
    const fields = new Map<string, string>()
    flatten(normalise(object, uids), '', { fields, aliases })
    const place = namespace === undefined ? '' : `${String(namespace)}/`
    const key = alias === undefined ? resource : `${resource} ${place}${String(alias)}`
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
    if (key === 'ownerReferences' && Array.isArray(value))
      metadata[key] = value.map(each => ownerOf(each, uids))
    else if (key === 'annotations' && isObject(value)) {
      const { [touchedAnnotation]: _touched, ...annotations } = value as JsonObject
      if (Object.keys(annotations).length > 0) metadata[key] = annotations
    } else metadata[key] = value
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
    for (const [key, member] of entries)
      if (!(key === 'nodeName' && path === '.spec')) flatten(member, `${path}.${key}`, into)
  } else into.fields.set(path, typeof value === 'string' ? mask(value, into.aliases) : String(value))
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
/** The volume with the token of a Pod's service account. */
const tokenVolume = /^kube-api-access-[a-z0-9]{5}$/
const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function mask(text: string, aliases: ReadonlyMap<string, string>): string {
  if (timePattern.test(text)) return '<time>'
  if (uidPattern.test(text)) return '<uid>'
  if (tokenVolume.test(text)) return '"kube-api-access-*"'
  return JSON.stringify(aliases.get(text) ?? text)
}
