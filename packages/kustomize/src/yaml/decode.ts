import { setMember } from '@coxswain/apimachinery/json'
import { buildFailed } from '../errors.ts'
import { isMissingOrNull, type NodeStyle, scalarNode, tags, YamlNode } from './node.ts'
import { printGoFloat } from './number.ts'
import { needsQuotes, type Resolved, resolvePlain, type ScalarValue } from './resolve.ts'

/** JSON as kustomize sees it. Whole numbers beyond 2^53 are bigint. */
export type JsonValue = ScalarValue | JsonValue[] | { [key: string]: JsonValue }
/** An object as plain data. */
export type JsonObject = { [key: string]: JsonValue }

/**
 * What the node is after kustomize wrote it as YAML and read it again. Throws for what JSON does not have: keys that are not strings,
 * repeated keys, infinite numbers, a value that is not of the type of its tag.
 */
export function nodeToJson(node: YamlNode): JsonValue {
  switch (node.kind) {
    case 'scalar':
      return scalarToJson(node)
    case 'sequence':
      return node.content.map(nodeToJson)
    case 'mapping':
      return mappingToJson(node)
  }
}

/** An object. Its own keys may be numbers and the like, unlike those of the mappings in it. */
export function documentToJson(node: YamlNode): JsonObject {
  return mappingToJson(node, key => (key.kind === 'scalar' ? key.value : keyText(key)))
}

function mappingToJson(node: YamlNode, nameOf: (key: YamlNode) => string = keyText): JsonObject {
  const object: JsonObject = {}
  const { content } = node
  for (let at = 0; at + 1 < content.length; at += 2) {
    const name = nameOf(content[at]!)
    if (Object.hasOwn(object, name)) throw buildFailed(`mapping key "${name}" already defined`)
    setMember(object, name, nodeToJson(content[at + 1]!))
  }
  return object
}

function keyText(key: YamlNode): string {
  if (key.kind === 'scalar') {
    const { tag } = resolveNode(key)
    if (tag === tags.string || tag === tags.merge) return key.value
  }
  throw buildFailed(
    `json: unsupported type: map[interface {}]interface {}: the key "${key.value}" is not a string`,
  )
}

function scalarToJson(node: YamlNode): ScalarValue {
  const { value } = resolveNode(node)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw buildFailed(`json: unsupported value: ${printGoFloat(value)}`)
  return value
}

/** What a scalar is when it is read again. */
export function resolveNode(node: YamlNode): Resolved {
  const { tag, value, style } = node
  if (tag === tags.string) return { tag, value }
  const isQuoted = style !== 'plain' || value.includes('\n')
  if (tag === '') return isQuoted ? { tag: tags.string, value } : resolvePlain(value)
  const plain = resolvePlain(value)
  if (plain.tag === tag && !node.tagged) return isQuoted ? { tag: tags.string, value } : plain
  return resolveTagged(tag, value, plain)
}

function resolveTagged(tag: string, value: string, plain: Resolved): Resolved {
  if (tag === plain.tag) return plain
  switch (tag) {
    case tags.float:
      if (plain.tag === tags.integer) return { tag, value: Number(plain.value) }
      break
    case tags.integer:
    case tags.boolean:
    case tags.null:
    case tags.timestamp:
      break
    default:
      return { tag: tags.string, value }
  }
  throw buildFailed(`yaml: cannot decode ${plain.tag} \`${value}\` as a ${tag}`)
}

/** JSON as a tree, as kustomize makes it from the result of a JSON patch: all numbers went through a double. */
export function jsonToNode(value: JsonValue): YamlNode {
  if (Array.isArray(value)) {
    const node = new YamlNode('sequence', tags.sequence, '')
    if (value.length === 0) node.style = 'flow'
    else node.content = value.map(jsonToNode)
    return node
  }
  if (typeof value === 'object' && value !== null) {
    const node = new YamlNode('mapping', tags.mapping, '')
    const keys = Object.keys(value)
    if (keys.length === 0) node.style = 'flow'
    for (const key of keys) node.content.push(textNode(key), jsonToNode(value[key]!))
    return node
  }
  if (typeof value === 'string') return textNode(value)
  const text =
    value === null ? 'null' : typeof value === 'boolean' ? String(value) : printGoFloat(Number(value))
  return scalarNode(text, resolvePlain(text).tag)
}

function textNode(value: string): YamlNode {
  const node = scalarNode(value, tags.string)
  const style: NodeStyle = value.includes('\n') ? 'literal' : needsQuotes(value) ? 'double' : 'plain'
  node.style = style
  return node
}

/** The value at a node for a variable: strings, numbers and booleans as such, anything else as JSON. */
export function valueOfNode(node: YamlNode): JsonValue {
  if (node.kind !== 'scalar') return nodeToJson(node)
  if (isMissingOrNull(node)) return (node as YamlNode).value
  switch (node.tag) {
    case tags.integer:
    case tags.float:
    case tags.boolean:
      return resolvePlain(node.value).value
    default:
      return node.value
  }
}
