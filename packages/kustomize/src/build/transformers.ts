import { compareCodePoints } from '@coxswain/apimachinery/go'
import type { FieldSpec } from '../config/inputs.ts'
import type { ImageArguments, SortOptions } from '../config/kustomization.ts'
import { buildFailed } from '../errors.ts'
import { applyFieldSpec, applyFieldSpecs, entrySetter, scalarSetter } from '../filters/field-spec.ts'
import { imageChanger } from '../filters/images.ts'
import { changeNamespace, type NamespaceChange } from '../filters/namespace.ts'
import { hashResource } from '../hash.ts'
import { helmAnnotation } from '../resource/annotations.ts'
import { isSelected, orderFirst, orderLast, printGvk, rankKinds, sortText } from '../resource/gvk.ts'
import type { Resource } from '../resource/resource.ts'
import { idKey, type ResourceId } from '../resource/resource-id.ts'
import type { ResourceMap } from '../resource/resource-map.ts'
import { tags } from '../yaml/node.ts'

/** A step of a build: changes the objects, or throws. */
export type Transformer = (map: ResourceMap) => void

export function setEntries(entries: ReadonlyMap<string, string>, specs: readonly FieldSpec[]): Transformer {
  const keys = [...entries.keys()].sort(compareCodePoints)
  return map => {
    for (const resource of map.resources) {
      for (const key of keys)
        applyFieldSpecs(resource.node, specs, {
          set: entrySetter(key, entries.get(key)!),
          createKind: 'mapping',
          createTag: tags.mapping,
        })
    }
  }
}

const notRenamed = [
  { group: '', version: '', kind: 'CustomResourceDefinition' },
  { group: 'apiregistration.k8s.io', version: '', kind: 'APIService' },
  { group: '', version: '', kind: 'Namespace' },
]

export function addAffix(
  affix: string,
  position: 'prefix' | 'suffix',
  specs: readonly FieldSpec[],
): Transformer {
  return map => {
    for (const resource of map.resources) {
      const id = resource.originalId
      if (notRenamed.some(gvk => isSelected(id, gvk))) continue
      for (const spec of specs) {
        if (!isSelected(id, spec)) continue
        if (spec.path === 'metadata/name') {
          if (position === 'prefix') resource.addPrefix(affix)
          else resource.addSuffix(affix)
          if (affix !== '') resource.storePreviousId()
        }
        applyFieldSpec(resource.node, spec, {
          set: node => scalarSetter(position === 'prefix' ? affix + node.value : node.value + affix)(node),
          createKind: 'scalar',
          createTag: tags.string,
        })
      }
    }
  }
}

export function setNamespace(change: NamespaceChange): Transformer {
  return map => {
    if (change.namespace === '') return
    const counts = new Map<string, number>()
    const count = (key: string, by: number) => counts.set(key, (counts.get(key) ?? 0) + by)
    for (const resource of map.resources) count(idKey(resource.currentId), 1)
    for (const resource of map.resources) {
      if (resource.isEmpty || resource.annotation(helmAnnotation) === 'true') continue
      const before = idKey(resource.currentId)
      resource.storePreviousId()
      changeNamespace(resource, change)
      const id = resource.currentId
      count(before, -1)
      count(idKey(id), 1)
      if (counts.get(idKey(id)) !== 1)
        throw buildFailed(`namespace transformation produces ID conflict: ${resource.kind} ${resource.name}`)
    }
  }
}

export function setImages(image: ImageArguments, specs: readonly FieldSpec[]): Transformer {
  return map => {
    const change = imageChanger(image, specs)
    for (const resource of map.resources) change(resource.node)
  }
}

export function setReplicas(
  { name, count }: { name: string; count: number | bigint },
  specs: readonly FieldSpec[],
): Transformer {
  return map => {
    let isFound = false
    for (const spec of specs) {
      for (const resource of map.withAnyId(id => id.name === name && isSelected(id, spec))) {
        isFound = true
        applyFieldSpec(resource.node, spec, {
          set: scalarSetter(String(count), tags.integer),
          createKind: 'scalar',
          createTag: tags.integer,
        })
      }
    }
    if (!isFound)
      throw buildFailed(
        `resource with name ${name} does not match a config with the following GVK [${specs.map(printGvk).join(' ')}]`,
      )
  }
}

export const addHashes: Transformer = map => {
  for (const resource of map.resources) {
    if (!resource.isEnabled('needsHash')) continue
    const hash = hashResource(resource.node)
    resource.storePreviousId()
    resource.setName(`${resource.name}-${hash}`)
  }
}

/** Sorts by kind in the default or the given order, then by id; or leaves the order of loading. */
export function sortResources(options: SortOptions): Transformer {
  const { order = '', legacySortOptions } = options
  return map => {
    if (order !== 'fifo' && order !== 'legacy')
      throw buildFailed("the field 'sortOptions.order' must be one of [fifo, legacy]")
    if (order === 'fifo') {
      if (legacySortOptions !== undefined)
        throw buildFailed(
          "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
        )
      return
    }
    const ranks = rankKinds(
      legacySortOptions === undefined ? orderFirst : (legacySortOptions.orderFirst ?? []),
      legacySortOptions === undefined ? orderLast : (legacySortOptions.orderLast ?? []),
    )
    const keyed = map.resources.map((resource: Resource) => sortKey(resource, ranks))
    keyed.sort(compareSortKeys)
    map.resources = []
    map.appendAll(keyed.map(each => each.resource))
  }
}

interface SortKey {
  readonly resource: Resource
  readonly id: ResourceId
  readonly rank: number
  readonly gvk: string
  readonly text: string
}

function sortKey(resource: Resource, ranks: ReadonlyMap<string, number>): SortKey {
  const id = resource.currentId
  return {
    resource,
    id,
    rank: ranks.get(id.kind) ?? 0,
    gvk: sortText(id),
    text: `${printGvk(id)}|${id.namespace || '~X'}|${id.name || '~N'}`,
  }
}

function compareSortKeys(a: SortKey, b: SortKey): number {
  if (a.gvk === b.gvk) return compareCodePoints(a.text, b.text)
  if (a.rank !== b.rank) return a.rank - b.rank
  const isCoreNamespace =
    a.id.kind === 'Namespace' && b.id.kind === 'Namespace' && (a.id.group === '' || b.id.group === '')
  return isCoreNamespace ? compareCodePoints(b.gvk, a.gvk) : compareCodePoints(a.gvk, b.gvk)
}
