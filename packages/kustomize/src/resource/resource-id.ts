import { equalGvk, type Gvk, isSelected, printGvk } from './gvk.ts'

/** What kustomize finds an object by. */
export interface ResourceId extends Gvk {
  readonly name: string
  readonly namespace: string
  /** Only current ids know it; former ones carry {@link noNamespace} as their namespace. */
  readonly clusterScoped: boolean
}

/** What stands for the namespace of objects that have none. */
export const noNamespace = '_non_namespaceable_'

export function effectiveNamespace({ clusterScoped, namespace }: ResourceId): string {
  if (clusterScoped) return noNamespace
  return namespace === '' ? 'default' : namespace
}

export const equalIds = (a: ResourceId, b: ResourceId): boolean =>
  a.name === b.name && equalGvk(a, b) && effectiveNamespace(a) === effectiveNamespace(b)

/** A text that is equal for ids that are. */
export const idKey = (id: ResourceId): string =>
  `${id.group}\n${id.version}\n${id.kind}\n${id.name}\n${effectiveNamespace(id)}`

export const printId = (id: ResourceId): string =>
  `${printGvk(id)}/${id.name || '[noName]'}.${id.namespace || '[noNs]'}`

/** A selector of one object, where empty fields match all. */
export interface IdSelector extends Gvk {
  readonly name: string
  readonly namespace: string
}

export const isSelectedBy = (id: ResourceId, selector: IdSelector): boolean =>
  (selector.name === '' || selector.name === id.name) &&
  (selector.namespace === '' ||
    effectiveNamespace({ ...selector, clusterScoped: false }) === effectiveNamespace(id)) &&
  isSelected(id, selector)
