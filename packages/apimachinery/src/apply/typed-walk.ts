import { maxErrorLength, maxErrors } from '../field/error-list.ts'
import { goPrint, goTypeName, goTypeOf } from '../go/go-print.ts'
import { quote } from '../go/quote.ts'
import { isPlainObject, type PlainObject } from '../json/plain.ts'
import { setMember } from '../json/value.ts'
import { below, emptyFieldSet, type FieldSet, hasElement, isEmptySet } from './field-set.ts'
import { elementOf, type PathElement, printElement, TypedValueError } from './path-element.ts'
import { atomOf, type ListType, type MapType, type ScalarType, type TypeNode } from './type-node.ts'
import { elementAt } from './typed-compare.ts'

/** The paths in a configuration: what its applier owns. */
export function fieldSetOf(value: unknown, type: TypeNode): FieldSet {
  return collect(value, type, false) ?? emptyFieldSet
}

/** The node of a value, with its own path if `member`; `undefined` if it is not in the set and nothing below is. */
function collect(value: unknown, type: TypeNode | undefined, member: boolean): FieldSet | undefined {
  const kind = type === undefined ? undefined : atomOf(type, value)
  let node: Record<string, FieldSet> | undefined
  if (kind === 'map') {
    if (type!.map!.isAtomic) return emptyFieldSet
    node = collectMap(value, type!.map!)
  } else if (kind === 'list') {
    if (type!.list!.kind === 'atomic') return emptyFieldSet
    node = collectList(value, type!.list!)
  } else return emptyFieldSet
  if (node === undefined) return member ? emptyFieldSet : undefined
  return member ? Object.assign(node, { '.': emptyFieldSet }) : node
}

function collectMap(value: unknown, map: MapType): Record<string, FieldSet> | undefined {
  if (!isPlainObject(value)) return undefined
  let node: Record<string, FieldSet> | undefined
  for (const key in value) {
    const inner = value[key]
    if (inner === undefined) continue
    const isBare = inner === null || (isPlainObject(inner) && Object.keys(inner).length === 0)
    const child = collect(inner, map.typeOf(key), isBare || !map.isField(key))
    if (child === undefined) continue
    node ??= {}
    node[`f:${key}`] = child
  }
  return node
}

function collectList(value: unknown, list: ListType): Record<string, FieldSet> | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const node: Record<string, FieldSet> = {}
  for (let i = 0; i < value.length; i++) {
    const element = elementAt(value, i, list, [])
    node[element] = node[element] === undefined ? collect(value[i], list.items, true)! : emptyFieldSet
  }
  return node
}

/**
 * `value` without the fields and items of `set`; what becomes empty is null. The result shares unchanged parts
 * with `value`.
 */
export function removeItems(value: unknown, set: FieldSet, type: TypeNode | undefined): unknown {
  if (isEmptySet(set)) return value
  const kind = type === undefined ? undefined : atomOf(type, value)
  if (kind === 'map') {
    const map = type!.map!
    if (!isPlainObject(value) || map.isAtomic) return null
    return removeFields(value, set, map)
  }
  if (kind === 'list') {
    const list = type!.list!
    if (!Array.isArray(value) || list.kind === 'atomic') return null
    return removeElements(value, set, list)
  }
  return value
}

function removeFields(value: PlainObject, set: FieldSet, map: MapType): unknown {
  const out: PlainObject = {}
  let isEmpty = true
  let isSame = true
  for (const key in value) {
    const element = `f:${key}`
    if (hasElement(set, element)) {
      isSame = false
      continue
    }
    const inner = below(set, element)
    const kept = inner === undefined ? value[key] : removeItems(value[key], inner, map.typeOf(key))
    if (kept !== value[key]) isSame = false
    setMember(out, key, kept)
    isEmpty = false
  }
  if (isEmpty) return null
  return isSame ? value : out
}

function removeElements(value: readonly unknown[], set: FieldSet, list: ListType): unknown {
  const out: unknown[] = []
  let isSame = true
  for (const item of value) {
    const element = elementOf(list, item)
    if (hasElement(set, element)) {
      isSame = false
      continue
    }
    const inner = below(set, element)
    const kept = inner === undefined ? item : removeItems(item, inner, list.items)
    if (kept !== item) isSame = false
    out.push(kept)
  }
  if (out.length === 0) return null
  return isSame ? value : out
}

/**
 * Throws a {@link TypedValueError} with the mismatches of `value` and `type`, in Kubernetes' words: as many errors as a
 * response can hold.
 */
export function validateTyped(value: unknown, type: TypeNode): void {
  const errors: TypedValueError[] = []
  let length = 0
  const path: PathElement[] = []
  const report = (message: string, element?: PathElement): void => {
    const elements = element === undefined ? path : [...path, element]
    if (errors.length === maxErrors || length > maxErrorLength) {
      errors.push(new TypedValueError(`too many errors: only the first ${errors.length} are reported`))
      throw joinErrors(errors)
    }
    const error = new TypedValueError(message, elements.map(printElement).join(''))
    length += error.path.length + message.length
    errors.push(error)
  }
  const walk = (inner: unknown, node: TypeNode | undefined, element: PathElement): void => {
    path.push(element)
    validate(inner, node)
    path.pop()
  }
  const validate = (inner: unknown, node: TypeNode | undefined): void => {
    if (node === undefined || inner === null) return
    const kind = atomOf(node, inner)
    if (kind === 'scalar') {
      const message = scalarProblem(inner, node.scalar!)
      if (message !== undefined) report(message)
    } else if (kind === 'map') {
      if (!isPlainObject(inner)) report(`expected map, got &{${goPrint(inner)}}`)
      else validateMap(inner, node.map!)
    } else if (kind === 'list') {
      if (!Array.isArray(inner)) report(`expected list, got &{${goPrint(inner)}}`)
      else validateList(inner, node.list!)
    }
  }
  const validateMap = (inner: PlainObject, map: MapType): void => {
    for (const key in inner) {
      if (inner[key] === undefined) continue
      const field = map.typeOf(key)
      if (field === undefined) {
        report('field not declared in schema', `f:${key}`)
        return
      }
      walk(inner[key], field, `f:${key}`)
    }
  }
  const validateList = (inner: readonly unknown[], list: ListType): void => {
    const seen = new Set<PathElement>()
    for (let i = 0; i < inner.length; i++) {
      let element = `i:${i}`
      if (list.kind !== 'atomic') {
        try {
          element = elementOf(list, inner[i])
        } catch (error) {
          if (!(error instanceof TypedValueError)) throw error
          report(`element ${i}: ${error.message}`)
          return
        }
        if (seen.has(element)) report(`duplicate entries for key ${printElement(element)}`)
        seen.add(element)
      }
      walk(inner[i], list.items, element)
    }
  }
  validate(value, type)
  if (errors.length > 0) throw joinErrors(errors)
}

function joinErrors(errors: readonly TypedValueError[]): TypedValueError {
  if (errors.length === 1) return errors[0]!
  return new TypedValueError(`errors:\n${errors.map(error => `  ${printTypedError(error)}`).join('\n')}`)
}

function scalarProblem(value: unknown, scalar: ScalarType): string | undefined {
  const type = goTypeOf(value)
  const isNumber = type === 'int64' || type === 'float64'
  switch (scalar) {
    case 'numeric':
      return isNumber ? undefined : `expected numeric (int or float), got ${goTypeName(type)}`
    case 'string': {
      const text = type === 'string' ? quote(value as string) : goPrint(value)
      return type === 'string' ? undefined : `expected string, got &value.valueUnstructured{Value:${text}}`
    }
    case 'boolean':
      return type === 'bool' ? undefined : `expected boolean, got &{${goPrint(value)}}`
    default:
      return type === 'map' || type === 'slice' ? `expected any scalar, got &{${goPrint(value)}}` : undefined
  }
}

/** An error's text with its path before it, as upstream prints it. */
export function printTypedError(error: TypedValueError): string {
  return error.path === '' ? error.message : `${error.path}: ${error.message}`
}
