import { buildFailed } from '../errors.ts'
import { fieldOf, isEmptyNode, mappingNode, type YamlNode } from '../yaml/node.ts'
import { clearField, setField } from '../yaml/tree.ts'
import { setBinaryData, setConfigMapData, setSecretData } from './data.ts'
import { getOrigin, setOrigin } from './origin.ts'
import type { Resource } from './resource.ts'
import { equalIds, idKey, printId, type ResourceId } from './resource-id.ts'

/** The most objects of a build. */
const maxResources = 20_000

/** The objects of a build in the order in which they were loaded. Each has an id of its own. */
export class ResourceMap {
  resources: Resource[] = []

  append(resource: Resource): void {
    this.appendAll([resource])
  }

  appendAll(resources: readonly Resource[]): void {
    if (this.resources.length + resources.length > maxResources)
      throw buildFailed(`more than ${maxResources} objects`)
    const known = new Set(this.resources.map(each => idKey(each.currentId)))
    for (const resource of resources) {
      const id = resource.currentId
      const key = idKey(id)
      if (known.has(key))
        throw buildFailed(`may not add resource with an already registered id: ${printId(id)}`)
      known.add(key)
      this.resources.push(resource)
    }
  }

  dropEmpty(): void {
    this.resources = this.resources.filter(each => !each.isEmpty)
  }

  /** The objects that have or had a matching id. */
  withAnyId(matches: (id: ResourceId) => boolean): Resource[] {
    return this.resources.filter(
      each => !each.isEmpty && (matches(each.currentId) || each.previousIds.some(matches)),
    )
  }

  /** The one object that has or had this id. */
  getById(id: ResourceId): Resource {
    const found = this.withAnyId(each => equalIds(id, each))
    if (found.length === 1) return found[0]!
    const problem = found.length > 1 ? 'multiple matches' : 'no matches'
    throw buildFailed(
      `${problem} for Id ${printId(id)}; failed to find unique target for patch ${printId(id)}`,
    )
  }

  /** Adds generated objects; those that merge with or replace one take its place. */
  absorbAll(resources: readonly Resource[]): void {
    for (const resource of resources) this.#absorb(resource)
  }

  #absorb(resource: Resource): void {
    const id = resource.currentId
    const found = this.withAnyId(each => equalIds(id, each))
    const { behavior } = resource
    if (found.length > 1)
      throw buildFailed(
        `found multiple objects ${found.join(', ')} that could accept merge of ${printId(id)}`,
      )
    const [old] = found
    if (old === undefined) {
      if (behavior === 'merge' || behavior === 'replace')
        throw buildFailed(`id ${printId(id)} does not exist; cannot merge or replace`)
      this.append(resource)
      return
    }
    if (behavior === 'replace') resource.mergeMetadataFrom(old)
    else if (behavior === 'merge') mergeData(resource, old)
    else
      throw buildFailed(
        `id ${printId(id)} exists; can not use behavior: '${behavior}', behavior must be merge or replace`,
      )
    this.#replace(resource, old)
  }

  #replace(resource: Resource, old: Resource): void {
    const id = resource.currentId
    const same = this.resources.filter(each => equalIds(id, each.currentId))
    if (same.length > 1) throw buildFailed(`in Replace: id matched ${same.length} resources`)
    if (same.length === 0) throw buildFailed(`cannot find resource with id ${printId(id)} to replace`)
    if (same[0] !== old) throw buildFailed('unexpected target index in replacement')
    this.resources[this.resources.indexOf(old)] = resource
  }

  /** Applies a strategic merge patch to some objects; those that it deletes leave. */
  applyPatch(selected: readonly Resource[], patch: Resource): void {
    const ids = new Set(selected.map(each => idKey(each.currentId)))
    const left: Resource[] = []
    const prepared = patch.copy()
    prepared.mergeMetadataFrom(patch)
    for (const resource of this.resources) {
      if (ids.has(idKey(resource.currentId))) {
        const copy = prepared.copy()
        copy.setApiVersion(resource.apiVersion)
        copy.setKind(patch.kind)
        resource.applyPatch(copy)
      }
      if (!resource.isEmpty) left.push(resource)
    }
    this.resources = []
    this.appendAll(left)
  }
}

function mergeData(resource: Resource, old: Resource): void {
  const origin = getOrigin(old)
  const source = resource.apiVersion === 'v1' && resource.kind === 'Secret' ? withStringData(old) : old
  const oldData = dataOf(source, 'data')
  const oldBinary = dataOf(old, 'binaryData')
  resource.mergeMetadataFrom(old)
  const data = new Map([...oldData, ...dataOf(resource, 'data')])
  clearField(resource.node, 'data')
  for (const [key, value] of data) setConfigMapData(resource.node, key, value)
  const binary = new Map([...oldBinary, ...dataOf(resource, 'binaryData')])
  clearField(resource.node, 'binaryData')
  for (const [key, value] of binary) setBinaryData(resource.node, key, value)
  if (origin !== undefined) setOrigin(resource, origin)
}

function dataOf(resource: Resource, field: string): Map<string, string> {
  const result = new Map<string, string>()
  const node = fieldOf(resource.node, field)
  if (isEmptyNode(node) || node!.kind !== 'mapping') return result
  for (let at = 0; at + 1 < node!.content.length; at += 2) {
    const value = node!.content[at + 1]!
    result.set(node!.content[at]!.value, isEmptyNode(value) ? '' : value.value)
  }
  return result
}

/** A copy of a Secret whose `stringData` is in `data`. */
function withStringData(secret: Resource): Resource {
  const copy = secret.copy()
  const stringData = fieldOf(copy.node, 'stringData')
  if (stringData !== undefined && !isNull(stringData)) {
    if (fieldOf(copy.node, 'data') === undefined) setField(copy.node, 'data', { value: mappingNode() })
    for (let at = 0; at + 1 < stringData.content.length; at += 2) {
      const value = stringData.content[at + 1]!
      const key = stringData.content[at]!.value
      if (value.kind !== 'scalar') throw buildFailed(`stringData value for key "${key}" must be a scalar`)
      setSecretData(copy.node, key, new TextEncoder().encode(isNull(value) ? '' : value.value))
    }
  }
  clearField(copy.node, 'stringData')
  return copy
}

const isNull = (node: YamlNode): boolean => node.tag === '!!null'
