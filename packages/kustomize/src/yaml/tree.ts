/** How kustomize finds and changes parts of a document. */
import { compareCodePoints } from '@coxswain/apimachinery/go'
import { buildFailed } from '../errors.ts'
import {
  assignNode,
  emptyNode,
  fieldOf,
  isEmptyNode,
  isMissingOrNull,
  isStringNode,
  mappingNode,
  type NodeKind,
  scalarNode,
  stringNode,
  tags,
  type YamlNode,
} from './node.ts'
import { needsQuotes } from './resolve.ts'

const kindNames: Readonly<Record<NodeKind, string>> = {
  mapping: 'MappingNode',
  sequence: 'SequenceNode',
  scalar: 'ScalarNode',
}

/** Throws unless the node is missing, null or of this kind. */
export function expectKind(node: YamlNode | undefined, kind: NodeKind): void {
  if (isMissingOrNull(node)) return
  const actual = (node as YamlNode).kind
  if (actual !== kind)
    throw buildFailed(`wrong node kind: expected ${kindNames[kind]} but got ${kindNames[actual]}`)
}

/** Removes a field and returns its value. */
export function clearField(node: YamlNode, name: string): YamlNode | undefined {
  if (isMissingOrNull(node)) return undefined
  expectKind(node, 'mapping')
  const { content } = node
  for (let at = 0; at < content.length; at += 2) {
    if (content[at]!.value !== name) continue
    const removed = content[at + 1]
    // A new list: nodes that share this content keep theirs.
    node.content = [...content.slice(0, at), ...content.slice(at + 2)]
    return removed
  }
  return undefined
}

/** The value of a field; undefined when the node is missing or null. Throws when it is not a mapping. */
export function getField(node: YamlNode | undefined, name: string): YamlNode | undefined {
  if (isMissingOrNull(node)) return undefined
  expectKind(node, 'mapping')
  return fieldOf(node, name)
}

/** Sets a scalar, which keeps the way it is quoted. */
export function setScalar(node: YamlNode, value: YamlNode): void {
  expectKind(node, 'scalar')
  if (isMissingOrNull(value)) return
  value.style = node.style
  assignNode(node, value)
}

/**
 * Sets a field, in place when it is there; a value that is missing or null removes it. `keepNull` is for a null that has to stay.
 * Returns the value that is there now.
 */
export function setField(
  node: YamlNode,
  name: string,
  { value, keepNull = false }: { value: YamlNode | undefined; keepNull?: boolean },
): YamlNode | undefined {
  if (value !== undefined && isStringNode(value) && value.style === 'plain' && value.value !== '')
    if (needsQuotes(value.value)) value.style = 'double'
  if (value === undefined || (value.tag === tags.null && !keepNull)) return clearField(node, name)
  const known = getField(node, name)
  if (known !== undefined) {
    value.style = known.style
    assignNode(known, value)
    return known
  }
  node.content.push(scalarNode(name), value)
  return value
}

export const isListIndex = (part: string): boolean => part.startsWith('[') && part.endsWith(']')

const wholeNumber = /^[-+]?[0-9]+$/

export const isIndexNumber = (part: string): boolean => wholeNumber.test(part) && Number(part) >= 0

/** The parts of `[name=value]`. */
export function splitListIndex(part: string): [name: string, value: string] {
  const inner = part.replace(/\]$/, '').replace(/^\[/, '')
  const at = inner.indexOf('=')
  if (at < 0) throw buildFailed('list path element must contain fieldName=fieldValue for element to match')
  return [inner.slice(0, at), inner.slice(at + 1)]
}

/** The kind of the node before the next part of a path; `last` after the last. */
export function kindBefore(next: string | undefined, last: NodeKind): NodeKind {
  if (next === undefined || next === '') return last
  return isListIndex(next) || isIndexNumber(next) ? 'sequence' : 'mapping'
}

/** The node at a path; undefined when there is none. With `create`, missing parts are made, and the last of this kind. */
export function lookup(root: YamlNode, path: readonly string[], create?: NodeKind): YamlNode | undefined {
  let node: YamlNode | undefined = root
  const parts = path.map(part => part.trim()).filter(part => part !== '')
  for (let at = 0; at < parts.length && node !== undefined; at++)
    node = step(node, parts[at]!, { next: parts[at + 1], create })
  return node
}

interface StepOptions {
  readonly next: string | undefined
  readonly create: NodeKind | undefined
}

function step(node: YamlNode, part: string, { next, create }: StepOptions): YamlNode | undefined {
  if (wholeNumber.test(part)) {
    expectKind(node, 'sequence')
    if (Number(part) < 0) throw buildFailed(`array index ${Number(part)} cannot be negative`)
    return node.content[Number(part)]
  }
  if (part === '-') {
    expectKind(node, 'sequence')
    if (node.content.length === 0) throw buildFailed('the list that "-" selects the last item of is empty')
    return node.content.at(-1)
  }
  if (part === '*') throw buildFailed('wildcard is not supported in PathGetter')
  if (isListIndex(part)) return matchElement(node, part, create)
  if (isMissingOrNull(node)) return undefined
  const known = getField(node, part)
  if (known !== undefined || create === undefined) return known
  return setField(node, part, { value: emptyNode(kindBefore(next, create)) })
}

function matchElement(node: YamlNode, part: string, create: NodeKind | undefined): YamlNode | undefined {
  const [name, value] = splitListIndex(part)
  expectKind(node, 'sequence')
  const found = findElement(node, [name], [value])
  if (found !== undefined || create === undefined) return found
  const element = name === '' ? scalarNode(value) : mappingNode()
  if (name !== '') element.content.push(scalarNode(name), scalarNode(value))
  node.content.push(element)
  return element
}

/** The first item of a list with these values; with an empty key, the first scalar of that text. */
export function findElement(
  list: YamlNode,
  keys: readonly string[],
  values: readonly string[],
): YamlNode | undefined {
  if (keys.length === 0 || keys[0] === '') return list.content.find(item => item.value === (values[0] ?? ''))
  return list.content.find(
    item =>
      !isMissingOrNull(item) &&
      item.kind === 'mapping' &&
      keys.every((key, at) => fieldOf(item, key)?.value === values[at]),
  )
}

export const metadataOf = (root: YamlNode): YamlNode | undefined => {
  const metadata = root.kind === 'mapping' ? fieldOf(root, 'metadata') : undefined
  return isEmptyNode(metadata) ? undefined : metadata
}

/** Labels or annotations as texts. */
export function metadataMap(root: YamlNode, field: 'labels' | 'annotations'): Map<string, string> {
  const result = new Map<string, string>()
  const content = fieldInContent(metadataOf(root), field)?.content ?? []
  for (let at = 0; at + 1 < content.length; at += 2) result.set(content[at]!.value, content[at + 1]!.value)
  return result
}

function fieldInContent(node: YamlNode | undefined, name: string): YamlNode | undefined {
  const content = node?.content ?? []
  for (let at = 0; at + 1 < content.length; at += 2) if (content[at]!.value === name) return content[at + 1]
  return undefined
}

/** Sets all labels or annotations, as strings in alphabetical order; none removes the field. */
export function setMetadataMap(
  root: YamlNode,
  field: 'labels' | 'annotations',
  values: ReadonlyMap<string, string>,
): void {
  const metadata = lookup(root, ['metadata'], 'mapping')
  if (metadata === undefined) return
  clearField(metadata, field)
  if (values.size === 0) return
  const map = lookup(metadata, [field], 'mapping')!
  for (const key of [...values.keys()].sort(compareCodePoints))
    setField(map, key, { value: stringNode(values.get(key)!) })
}
