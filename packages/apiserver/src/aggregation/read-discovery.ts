import type { ResourceDiscovery, ResponseKind, VersionDiscovery } from '@coxswain/api'
import { isObject, type JsonObject, readJson } from '@coxswain/apimachinery/json'

/** The discovery of one version, as its server describes it. */
export type RemoteVersion = Omit<VersionDiscovery, 'freshness'>

/** Throws an Error for a document that is not of its type. Members that discovery does not have are dropped. */
export function readAggregatedDiscovery(bytes: Uint8Array): Map<string, RemoteVersion> {
  const versions = new Map<string, RemoteVersion>()
  for (const group of objectsOf(readObject(bytes), 'items')) {
    const name = textAt(isObject(group.metadata) ? group.metadata : {}, 'name')
    for (const version of objectsOf(group, 'versions')) {
      const resources = objectsOf(version, 'resources').map(readResource)
      versions.set(`${name}/${textAt(version, 'version')}`, {
        version: textAt(version, 'version'),
        resources,
      })
    }
  }
  return versions
}

/** The same of an APIResourceList, as servers before 1.26 have it. */
export function readResourceList(bytes: Uint8Array, version: string): RemoteVersion {
  const resources = new Map<string, ResourceDiscovery>()
  const entries = objectsOf(readObject(bytes), 'resources')
  for (const entry of entries) {
    const name = textAt(entry, 'name')
    if (name.includes('/')) continue
    const shortNames = textsOf(entry, 'shortNames')
    const categories = textsOf(entry, 'categories')
    resources.set(name, {
      resource: name,
      responseKind: kindOfEntry(entry),
      scope: entry.namespaced === true ? 'Namespaced' : 'Cluster',
      singularResource: textAt(entry, 'singularName'),
      verbs: textsOf(entry, 'verbs'),
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    })
  }
  for (const entry of entries) {
    const [name = '', ...rest] = textAt(entry, 'name').split('/')
    if (rest.length === 0) continue
    const parent = resources.get(name) ?? orphanOf(name, entry)
    resources.set(name, parent)
    parent.subresources = [
      ...(parent.subresources ?? []),
      {
        subresource: rest.join('/'),
        responseKind: kindOfEntry(entry),
        verbs: textsOf(entry, 'verbs'),
      },
    ]
  }
  return { version, resources: [...resources.values()] }
}

/** A subresource without a resource of its own. */
function orphanOf(resource: string, entry: JsonObject): ResourceDiscovery {
  return {
    resource,
    responseKind: noKind(),
    scope: entry.namespaced === true ? 'Namespaced' : 'Cluster',
    singularResource: '',
    verbs: [],
  }
}

function kindOfEntry(entry: JsonObject): ResponseKind {
  return { group: textAt(entry, 'group'), version: textAt(entry, 'version'), kind: textAt(entry, 'kind') }
}

function readResource(entry: JsonObject): ResourceDiscovery {
  const shortNames = textsOf(entry, 'shortNames')
  const categories = textsOf(entry, 'categories')
  const subresources = objectsOf(entry, 'subresources').map(sub => ({
    subresource: textAt(sub, 'subresource'),
    responseKind: readKind(sub.responseKind),
    verbs: textsOf(sub, 'verbs'),
  }))
  return {
    resource: textAt(entry, 'resource'),
    responseKind: readKind(entry.responseKind),
    scope: textAt(entry, 'scope') as ResourceDiscovery['scope'],
    singularResource: textAt(entry, 'singularResource'),
    verbs: textsOf(entry, 'verbs'),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources }),
  }
}

/** Clients of 1.26 need a kind, even an empty one. */
function readKind(value: unknown): ResponseKind {
  if (!isObject(value)) return noKind()
  return { group: textAt(value, 'group'), version: textAt(value, 'version'), kind: textAt(value, 'kind') }
}

function noKind(): ResponseKind {
  return { group: '', version: '', kind: '' }
}

function readObject(bytes: Uint8Array): JsonObject {
  const { value } = readJson(bytes)
  if (!isObject(value)) throw new Error('not an object')
  return value
}

function objectsOf(object: JsonObject, member: string): JsonObject[] {
  const value = object[member] ?? []
  if (Array.isArray(value) && value.every(isObject)) return value
  throw new Error(`${member}: not a list of objects`)
}

function textsOf(object: JsonObject, member: string): string[] {
  const value = object[member] ?? []
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value
  throw new Error(`${member}: not a list of strings`)
}

function textAt(object: JsonObject, member: string): string {
  const value = object[member] ?? ''
  if (typeof value === 'string') return value
  throw new Error(`${member}: not a string`)
}
