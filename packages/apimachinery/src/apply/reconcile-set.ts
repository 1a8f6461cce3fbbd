import {
  below,
  emptyFieldSet,
  type FieldSet,
  hasElement,
  isEmptySet,
  recursiveDifference,
  setAt,
  union,
} from './field-set.ts'
import type { PathElement } from './path-element.ts'
import type { TypeNode } from './type-node.ts'

/**
 * A set written before its schema changed: where a type has become atomic, an owner of parts owns the whole.
 * Returns the set itself if nothing changes.
 */
export function reconcileSet(set: FieldSet, type: TypeNode): FieldSet {
  const atomic = findAtomic(set, type, [], false)
  if (atomic === emptyFieldSet) return set
  return union(recursiveDifference(set, atomic), atomic)
}

/** The paths of atomic types below which `set` still has some. */
function findAtomic(
  set: FieldSet | undefined,
  type: TypeNode | undefined,
  path: PathElement[],
  isLeaf: boolean,
): FieldSet {
  const map = type?.map
  const list = map === undefined && type?.scalar === undefined ? type?.list : undefined
  if (map !== undefined) {
    if (map.isDeduced) return emptyFieldSet
    if (!isLeaf && map.isAtomic) {
      return set !== undefined && !isEmptySet(set) ? setAt(path) : emptyFieldSet
    }
  } else if (list !== undefined) {
    if (!isLeaf && list.kind === 'atomic') return setAt(path)
  } else return emptyFieldSet
  let found = emptyFieldSet
  for (const element in set) {
    if (element === '.') continue
    const inner = map === undefined ? list?.items : map.typeOf(element.slice(2))
    if (inner === undefined || (inner.map === undefined && inner.list === undefined)) continue
    const children = below(set, element)
    path.push(element)
    const atomic = findAtomic(children, inner, path, hasElement(set, element) && children === undefined)
    path.pop()
    if (atomic !== emptyFieldSet) found = union(found, atomic)
  }
  return found
}
