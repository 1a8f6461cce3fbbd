import { MachineryError } from '../errors.ts'
import { getOwn, hasOwn, isPlainObject, type PlainObject } from '../json/plain.ts'
import { deepClone, deepEqual, setMember } from '../json/value.ts'

/** The maximum number of operations in a patch. */
export const maxJsonPatchOperations = 10_000
/** The maximum size that all `copy` operations of a patch may add, in bytes of JSON. */
export const maxJsonPatchCopyBytes: number = 3 * 1024 * 1024

/** One step of a JSON patch (RFC 6902). A missing `value` means null. */
export interface JsonPatchOperation {
  readonly op?: string
  readonly path?: string
  readonly from?: string
  readonly value?: unknown
}

type Container = PlainObject | unknown[]

const fields = ['op', 'path', 'from', 'value']

/**
 * Parses a body as a JSON patch; `null` is an empty one.
 * Throws `PatchUndecodable` or `PatchTooLarge`; the operations are validated only when they are applied.
 */
export function decodeJsonPatch(patch: unknown): readonly JsonPatchOperation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) throw undecodable(patch, 'Go value of type []handlers.jsonPatchOp')
  const operations = patch.map(readOperation)
  if (operations.length > maxJsonPatchOperations) {
    const limit = `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}`
    throw new MachineryError('PatchTooLarge', `${limit}, got ${operations.length}`)
  }
  return operations
}

/** Unknown fields of operations, as `[0].name`, for strict field validation. */
export function unknownJsonPatchFields(patch: readonly JsonPatchOperation[]): string[] {
  return patch.flatMap((operation, index) =>
    Object.keys(operation)
      .filter(key => !fields.includes(key))
      .map(key => `[${index}].${key}`),
  )
}

function readOperation(operation: unknown): JsonPatchOperation {
  if (operation === null) return {}
  if (!isPlainObject(operation)) throw undecodable(operation, 'Go value of type handlers.jsonPatchOp')
  for (const key of ['op', 'path', 'from']) {
    const value = getOwn(operation, key)
    if (value !== undefined && value !== null && typeof value !== 'string') {
      throw undecodable(value, `Go struct field jsonPatchOp.${key} of type string`)
    }
  }
  return operation as JsonPatchOperation
}

function undecodable(value: unknown, into: string): MachineryError {
  const kind = Array.isArray(value) ? 'array' : jsonKind[typeof value]
  return new MachineryError(
    'PatchUndecodable',
    `error decoding patch: json: cannot unmarshal ${kind} into ${into}`,
  )
}

const jsonKind: Readonly<Record<string, string>> = {
  boolean: 'bool',
  number: 'number',
  bigint: 'number',
  string: 'string',
  object: 'object',
}

/**
 * The document after all operations, or a `PatchInapplicable`. The result shares unchanged parts with
 * `document` and with the patch's values; neither is changed.
 *
 * Where kube-apiserver differs from RFC 6902, this follows kube-apiserver: `replace` of an absent key adds it, `copy`
 * of an absent key and `test` against null see null, a negative index counts from the end, and anything before the
 * first slash of a path is ignored.
 */
export function applyJsonPatch(document: unknown, patch: readonly JsonPatchOperation[]): unknown {
  const state: State = { root: document, own: new Set(), copied: 0 }
  for (const operation of patch) {
    const step = steps[operation.op ?? 'unknown']
    if (step === undefined) throw inapplicable(`Unexpected kind: ${operation.op ?? 'unknown'}`)
    step(state, operation)
  }
  return state.root
}

interface State {
  root: unknown
  /** Containers created by this patch, which may be changed in place. Their contents are included. */
  readonly own: Set<Container>
  /** Bytes that `copy` operations have added so far. */
  copied: number
}

type Step = (state: State, operation: JsonPatchOperation) => void

// A lookup without a prototype, because `op` comes from a client.
const steps: Readonly<Record<string, Step | undefined>> = Object.assign(Object.create(null), {
  add,
  remove,
  replace,
  move,
  copy,
  test,
})

function add(state: State, operation: JsonPatchOperation): void {
  const path = pathOf(operation, 'add')
  const target = find(state, path, true)
  if (!target)
    throw inapplicable(`add operation does not apply: doc is missing path: "${path}": missing value`)
  insert(target, operation.value ?? null, `error in add for path: '${path}'`)
}

function remove(state: State, operation: JsonPatchOperation): void {
  const path = pathOf(operation, 'remove')
  const target = find(state, path, true)
  if (!target) {
    throw inapplicable(`remove operation does not apply: doc is missing path: "${path}": missing value`)
  }
  take(target, `error in remove for path: '${path}'`)
}

function replace(state: State, operation: JsonPatchOperation): void {
  const path = pathOf(operation, 'replace')
  const value = operation.value ?? null
  if (path === '') {
    if (typeof value !== 'object' || value === null) {
      throw inapplicable('replace operation value must be object or array')
    }
    state.root = value
    return
  }
  const target = find(state, path, true)
  if (!target)
    throw inapplicable(`replace operation does not apply: doc is missing path: ${path}: missing value`)
  const { container, key } = target
  if (!Array.isArray(container)) {
    setMember(container, key, value)
    return
  }
  const index = indexOf(key, container.length)
  if (typeof index === 'string') {
    throw inapplicable(`replace operation does not apply: doc is missing key: ${path}: missing value`)
  }
  container[index] = value
}

function move(state: State, operation: JsonPatchOperation): void {
  const from = fromOf(operation, 'move')
  const source = find(state, from, true)
  if (!source) {
    throw inapplicable(`move operation does not apply: doc is missing from path: ${from}: missing value`)
  }
  const value = take(source, `error in move for path: '${source.key}'`)
  const path = pathOf(operation, 'move')
  const target = find(state, path, true)
  if (!target) {
    throw inapplicable(
      `move operation does not apply: doc is missing destination path: ${path}: missing value`,
    )
  }
  insert(target, value, `error in move for path: '${path}'`)
}

function copy(state: State, operation: JsonPatchOperation): void {
  const from = fromOf(operation, 'copy')
  const source = find(state, from, false)
  if (!source) {
    throw inapplicable(`copy operation does not apply: doc is missing from path: ${from}: missing value`)
  }
  const value = read(source, `error in copy for from: '${from}'`)
  const path = pathOf(operation, 'copy')
  const target = find(state, path, true)
  if (!target) {
    throw inapplicable(
      `copy operation does not apply: doc is missing destination path: ${path}: missing value`,
    )
  }
  if (value !== null) state.copied += jsonSize(value)
  if (state.copied > maxJsonPatchCopyBytes) {
    const what = 'Unable to complete the copy, the accumulated size increase of copy is'
    throw inapplicable(`${what} ${state.copied}, exceeding the limit ${maxJsonPatchCopyBytes}`)
  }
  // What this patch has not changed may be shared: a later change of either copies it first.
  const isShared = !state.own.has(value as Container)
  insert(target, isShared ? value : deepClone(value), 'error while adding value during copy')
}

function test(state: State, operation: JsonPatchOperation): void {
  const path = pathOf(operation, 'test')
  const expected = operation.value ?? null
  let actual = state.root
  if (path !== '') {
    const target = find(state, path, false)
    if (!target) throw inapplicable(`test operation does not apply: is missing path: ${path}: missing value`)
    actual = read(target, `error in test for path: '${path}'`)
  }
  if (!deepEqual(actual, expected)) throw inapplicable(`testing value ${path} failed: test failed`)
}

function pathOf(operation: JsonPatchOperation, name: string): string {
  if (typeof operation.path === 'string') return operation.path
  throw inapplicable(`${name} operation failed to decode path: missing value`)
}

function fromOf(operation: JsonPatchOperation, name: string): string {
  if (typeof operation.from === 'string') return operation.from
  throw inapplicable(`${name} operation failed to decode from: operation, missing from field: missing value`)
}

interface Place {
  readonly container: Container
  readonly key: string
}

/** The container that `path` ends in, `undefined` if there is none; `writable` copies every shared container on the way. */
function find(state: State, path: string, writable: boolean): Place | undefined {
  const parts = path.split('/')
  if (parts.length < 2) return undefined
  let container = asContainer(state.root)
  if (!container) return undefined
  if (writable) state.root = container = makeOwn(state, container)
  for (let i = 1; i < parts.length - 1; i++) {
    const key: string | number = keyIn(container, unescapePart(parts[i]!))
    let next = asContainer(
      Array.isArray(container) ? container[key as number] : getOwn(container, key as string),
    )
    if (!next) return undefined
    if (writable && !state.own.has(next)) {
      next = makeOwn(state, next)
      if (Array.isArray(container)) container[key as number] = next
      else setMember(container, key as string, next)
    }
    container = next
  }
  return { container, key: unescapePart(parts[parts.length - 1]!) }
}

/** An index that is out of range becomes -1, where no array has a value. */
function keyIn(container: Container, key: string): string | number {
  if (!Array.isArray(container)) return key
  const index = indexOf(key, container.length)
  return typeof index === 'string' ? -1 : index
}

function asContainer(value: unknown): Container | undefined {
  return typeof value === 'object' && value !== null ? (value as Container) : undefined
}

function makeOwn(state: State, container: Container): Container {
  if (state.own.has(container)) return container
  const copied: Container = Array.isArray(container) ? container.slice() : { ...container }
  state.own.add(copied)
  return copied
}

function read({ container, key }: Place, context: string): unknown {
  if (!Array.isArray(container)) return getOwn(container, key) ?? null
  const index = indexOf(key, container.length)
  if (typeof index === 'string') throw inapplicable(`${context}: ${index}`)
  return container[index] ?? null
}

function insert({ container, key }: Place, value: unknown, context: string): void {
  if (!Array.isArray(container)) {
    setMember(container, key, value)
    return
  }
  if (key === '-') {
    container.push(value)
    return
  }
  const index = indexOf(key, container.length + 1)
  if (typeof index === 'string') throw inapplicable(`${context}: ${index}`)
  container.splice(index, 0, value)
}

function take({ container, key }: Place, context: string): unknown {
  if (!Array.isArray(container)) {
    if (!hasOwn(container, key)) {
      throw inapplicable(`${context}: Unable to remove nonexistent key: ${key}: missing value`)
    }
    const value = container[key]
    delete container[key]
    return value
  }
  const index = indexOf(key, container.length)
  if (typeof index === 'string') throw inapplicable(`${context}: ${index}`)
  return container.splice(index, 1)[0]
}

/** The index that `key` names in an array of `length`, or the error text. */
function indexOf(key: string, length: number): number | string {
  if (!/^[+-]?[0-9]{1,18}$/.test(key)) return `value was not a proper array index: '${key}'`
  const index = Number(key)
  const found = index < 0 ? index + length : index
  if (found < 0 || found >= length)
    return `Unable to access invalid index: ${index}: invalid index referenced`
  return found + 0
}

function unescapePart(part: string): string {
  return part.includes('~') ? part.replace(/~[01]/g, code => (code === '~1' ? '/' : '~')) : part
}

function jsonSize(value: unknown): number {
  const text = JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? Number(inner) : inner))
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

function inapplicable(message: string): MachineryError {
  return new MachineryError('PatchInapplicable', message)
}
