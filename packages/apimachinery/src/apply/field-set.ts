import { compareElements, type PathElement, readElement, TypedValueError } from './path-element.ts'
import type { TypeNode } from './type-node.ts'

/**
 * A set of field paths, in the very form in which `fieldsV1` stores it: a tree of path elements. An element is in the
 * set itself if nothing is below it, or if `.` is; otherwise it only leads to those below. The whole object (the empty
 * path) is never in a set.
 *
 *     {"f:spec": {"f:replicas": {}, "f:ports": {"k:{\"port\":80}": {".": {}, "f:name": {}}}}}
 *
 * Sets are values: operations return new ones that share what did not change, and return their first operand itself
 * when the result is equal to it.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet
}

interface MutableSet {
  [element: PathElement]: MutableSet
}

export const emptyFieldSet: FieldSet = Object.freeze({})

const self = '.'
const leaf: FieldSet = emptyFieldSet

/** Whether `set` has no fields. */
export function isEmptySet(set: FieldSet): boolean {
  return !hasChildren(set)
}

function hasChildren(node: FieldSet): boolean {
  for (const element in node) if (element !== self) return true
  return false
}

/** Whether the element that leads to `node` is in the set itself. */
export function isMember(node: FieldSet): boolean {
  return node[self] !== undefined || !hasChildren(node)
}

/** A node with the children of `kids`, in the set itself if `member`; `undefined` if nothing is left. */
export function nodeOf(kids: FieldSet, member: boolean): FieldSet | undefined {
  if (!hasChildren(kids)) return member ? (kids[self] === undefined ? kids : leaf) : undefined
  if (member === (kids[self] !== undefined)) return kids
  if (member) return { [self]: leaf, ...kids }
  const { [self]: _self, ...rest } = kids
  return rest
}

/**
 * Collects paths along a walk. It is the one place where a set is changed, because a copy of a large node for each of its
 * children would take quadratic time; it remembers the nodes on the way, so that siblings find theirs at once.
 */
export class PathCollector {
  /** The nodes of the first elements of the path that was inserted last. */
  readonly #nodes: MutableSet[] = [{}]

  /** What was collected; nothing may be inserted afterwards. */
  get set(): FieldSet {
    return this.#nodes[0]!
  }

  /** To be called when the walk leaves its path and only the first `length` elements of it remain. */
  leave(length: number): void {
    if (this.#nodes.length > length + 1) this.#nodes.length = length + 1
  }

  insert(path: readonly PathElement[], below: FieldSet): void {
    for (let i = this.#nodes.length - 1; i < path.length - 1; i++) {
      const node = this.#nodes[i]!
      const element = path[i]!
      const child = node[element]
      if (child === undefined) node[element] = {}
      else if (!hasChildren(child)) node[element] = { [self]: leaf as MutableSet }
      else if (ordered.has(child)) node[element] = { ...child }
      this.#nodes.push(node[element]!)
    }
    const node = this.#nodes[path.length - 1]!
    const last = path[path.length - 1]!
    const known = node[last]
    node[last] =
      known === undefined
        ? (below as MutableSet)
        : (nodeOf(union(known, below), isMember(known) || isMember(below))! as MutableSet)
  }
}

/** A set of one path, or of the path and what is below it. */
export function setAt(path: readonly PathElement[], below: FieldSet = leaf): FieldSet {
  let set = below
  for (let i = path.length - 1; i >= 0; i--) set = { [path[i]!]: set }
  return set
}

/** Whether `set` contains the field at `path`. */
export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set
  for (const element of path) {
    node = node?.[element]
    if (node === undefined) return false
  }
  return path.length > 0 && isMember(node)
}

/** Whether the element itself is in the set. */
export function hasElement(set: FieldSet, element: PathElement): boolean {
  const node = set[element]
  return node !== undefined && isMember(node)
}

/** What is below an element; `undefined` if nothing is. */
export function below(set: FieldSet, element: PathElement): FieldSet | undefined {
  const node = set[element]
  return node !== undefined && hasChildren(node) ? node : undefined
}

/** The paths of both. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a
  let out: MutableSet | undefined
  for (const element in b) {
    if (element === self) continue
    const right = b[element]!
    const left = a[element]
    const node = left === undefined ? right : nodeOf(union(left, right), isMember(left) || isMember(right))!
    if (node === left) continue
    out ??= { ...a }
    out[element] = node
  }
  return out ?? a
}

/** The paths of both at once. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  const out: MutableSet = {}
  for (const element in a) {
    if (element === self) continue
    const left = a[element]!
    const right = b[element]
    if (right === undefined) continue
    const node = nodeOf(intersection(left, right), isMember(left) && isMember(right))
    if (node !== undefined) out[element] = node
  }
  return out
}

/** The same, for a `b` that holds most of `a`: it shares what stays, and keeps the order of `a`. */
export function restrict(a: FieldSet, b: FieldSet): FieldSet {
  let out: MutableSet | undefined
  for (const element in a) {
    if (element === self) continue
    const left = a[element]!
    const right = b[element]
    const node =
      right === undefined ? undefined : nodeOf(restrict(left, right), isMember(left) && isMember(right))
    if (node === left) continue
    out ??= { ...a }
    if (node === undefined) delete out[element]
    else out[element] = node
  }
  return out ?? a
}

/** The paths of `a` that are not in `b`. A path stays when only one above it is in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false)
}

/** The paths of `a` that are not in `b`, and neither below one of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true)
}

function subtract(a: FieldSet, b: FieldSet, isRecursive: boolean): FieldSet {
  let out: MutableSet | undefined
  for (const element in b) {
    if (element === self) continue
    const left = a[element]
    if (left === undefined) continue
    const right = b[element]!
    const isRemoved = isMember(right)
    const node =
      isRecursive && isRemoved
        ? undefined
        : nodeOf(hasChildren(right) ? subtract(left, right, isRecursive) : left, isMember(left) && !isRemoved)
    if (node === left) continue
    out ??= { ...a }
    if (node === undefined) delete out[element]
    else out[element] = node
  }
  return out ?? a
}

export function isEqualSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  let count = 0
  for (const element in a) {
    if (element === self) continue
    const left = a[element]!
    const right = b[element]
    if (right === undefined || isMember(left) !== isMember(right) || !isEqualSet(left, right)) return false
    count++
  }
  for (const element in b) if (element !== self) count--
  return count === 0
}

/** Whether every path of `a` is in `b`. */
export function isSubset(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  for (const element in a) {
    if (element === self) continue
    const left = a[element]!
    const right = b[element]
    if (right === undefined || (isMember(left) && !isMember(right)) || !isSubset(left, right)) return false
  }
  return true
}

/** `set` with every named field above one of its paths, which sets usually leave out. */
export function withNamedFields(set: FieldSet, type: TypeNode | undefined): FieldSet {
  let out: MutableSet | undefined
  for (const element in set) {
    if (element === self) continue
    const node = set[element]!
    if (!hasChildren(node)) continue
    let inner: TypeNode | undefined
    let member = isMember(node)
    if (element[0] === 'f') {
      const name = element.slice(2)
      inner = type?.map?.typeOf(name)
      if (type?.map?.isField(name)) member = true
    } else if (element[0] === 'k') {
      inner = type?.list?.items
    }
    const next = nodeOf(withNamedFields(node, inner), member)!
    if (next === node) continue
    out ??= { ...set }
    out[element] = next
  }
  return out ?? set
}

/** Calls `visit` for every path, in the order of messages: those that end here first, then those below. */
export function forEachPath(set: FieldSet, visit: (path: readonly PathElement[]) => void): void {
  const path: PathElement[] = []
  const walk = (node: FieldSet): void => {
    const elements = sortedElements(node)
    for (const element of elements) {
      if (!isMember(node[element]!)) continue
      path.push(element)
      visit(path)
      path.pop()
    }
    for (const element of elements) {
      path.push(element)
      walk(node[element]!)
      path.pop()
    }
  }
  walk(set)
}

function sortedElements(node: FieldSet): PathElement[] {
  return Object.keys(node)
    .filter(element => element !== self)
    .sort(compareElements)
}

/** A set read from `fieldsV1`. Throws a {@link TypedValueError} for what is none. */
export function decodeFieldSet(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return emptyFieldSet
  const node = decodeNode(fields)
  return node[self] === undefined ? node : (nodeOf(node, false) ?? emptyFieldSet)
}

function decodeNode(fields: unknown): FieldSet {
  if (fields === null) return leaf
  if (typeof fields !== 'object' || Array.isArray(fields)) {
    throw new TypedValueError('a set of fields is an object of path elements')
  }
  const source = fields as Record<string, unknown>
  let out: MutableSet | undefined
  for (const text in source) {
    if (text === self) continue
    const element = readElement(text)
    const node = element === undefined ? undefined : decodeNode(source[text])
    if (element === text && node === source[text]) continue
    out ??= { ...(source as MutableSet) }
    delete out[text]
    if (element !== undefined && node !== undefined) {
      const known = out[element]
      out[element] =
        known === undefined ? node : union(setAt([element], known), setAt([element], node))[element]!
    }
  }
  const node = (out ?? source) as FieldSet
  return node[self] !== undefined && !hasChildren(node) ? leaf : node
}

/** Sets whose elements are in order down to the last one, and which never change. */
const ordered = new WeakSet<FieldSet>([emptyFieldSet])

/** The set with its own elements in order, for one whose children are ordered sets. */
export function orderedSet(set: FieldSet): FieldSet {
  const result = Object.freeze(encodeFieldSet(set))
  ordered.add(result)
  return result
}

/** The set with its elements in the order in which Kubernetes writes them. */
export function encodeFieldSet(set: FieldSet): FieldSet {
  if (ordered.has(set)) return set
  let previous: PathElement | undefined
  let out: MutableSet | undefined
  let isSorted = true
  for (const element in set) {
    if (previous !== undefined && isSorted && compareElements(previous, element) > 0) isSorted = false
    previous = element
    const node = set[element]!
    const sorted = element === self ? node : encodeFieldSet(node)
    if (sorted === node) continue
    out ??= { ...set }
    out[element] = sorted
  }
  const source = out ?? set
  if (isSorted) return source
  const result: MutableSet = {}
  if (source[self] !== undefined) result[self] = leaf
  for (const element of sortedElements(source)) result[element] = source[element]!
  return result
}
