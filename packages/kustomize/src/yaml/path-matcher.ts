import { buildFailed } from '../errors.ts'
import { compileRegex } from '../regex.ts'
import { emitNode } from './emit.ts'
import { emptyNode, fieldOf, mappingNode, type NodeKind, scalarNode, type YamlNode } from './node.ts'
import { parseYaml } from './parse.ts'
import {
  expectKind,
  getField,
  isIndexNumber,
  isListIndex,
  kindBefore,
  setField,
  splitListIndex,
} from './tree.ts'

/**
 * All nodes at a path whose parts are fields, indexes, `[field=regex]` and `*`. With `create`, what is missing is made. Undefined means
 * that a field is missing.
 */
export function matchPath(
  node: YamlNode | undefined,
  path: readonly string[],
  create: NodeKind | undefined,
): YamlNode[] | undefined {
  const [part, ...rest] = path
  if (part === undefined) return node === undefined ? [] : [node]
  if (isIndexNumber(part)) return matchIndex(node, path, create)
  if (isListIndex(part)) return matchItems(node, path, create)
  if (part === '*') {
    expectKind(node, 'sequence')
    return collect(node?.content ?? [], rest, create)
  }
  return matchField(node, path, create)
}

function collect(
  items: readonly YamlNode[],
  path: readonly string[],
  create: NodeKind | undefined,
): YamlNode[] | undefined {
  let matches: YamlNode[] | undefined
  for (const item of items) {
    const found = matchPath(item, path, create)
    if (found !== undefined) matches = [...(matches ?? []), ...found]
  }
  return matches
}

function matchField(
  node: YamlNode | undefined,
  path: readonly string[],
  create: NodeKind | undefined,
): YamlNode[] | undefined {
  const [part, ...rest] = path as [string, ...string[]]
  let field = getField(node, part)
  if (field === undefined) {
    if (create === undefined || node === undefined) return undefined
    field = emptyNode(kindBefore(rest[0], create))
    setField(node, part, { value: field })
  }
  if (field.kind === 'scalar' && rest.length > 0) return matchPath(parseYaml(field.value), rest, create)
  return matchPath(field, rest, create)
}

function matchIndex(
  node: YamlNode | undefined,
  path: readonly string[],
  create: NodeKind | undefined,
): YamlNode[] | undefined {
  const [part, ...rest] = path as [string, ...string[]]
  const index = Number(part)
  expectKind(node, 'sequence')
  const items = node?.content ?? []
  if (items.length === index && create !== undefined) items.push(emptyNode(kindBefore(rest[0], create)))
  if (items.length < index + 1)
    throw buildFailed(`index ${index} specified but only ${items.length} elements found`)
  return matchPath(items[index], rest, create)
}

function matchItems(
  node: YamlNode | undefined,
  path: readonly string[],
  create: NodeKind | undefined,
): YamlNode[] | undefined {
  const [part, ...rest] = path as [string, ...string[]]
  const [field, pattern] = splitListIndex(part)
  expectKind(node, 'sequence')
  const found = selectItems(node?.content ?? [], field, pattern)
  const matches = field === '' ? found : (collect(found, rest, create) ?? [])
  if (matches.length > 0 || create === undefined) return matches.length > 0 ? matches : undefined
  if (node === undefined) return undefined
  const value = scalarNode(pattern)
  const item = field === '' ? value : mappingNode()
  if (field !== '') item.content.push(scalarNode(field), value)
  node.content.push(item)
  const made = selectItems(node.content, field, pattern)
  // The item that was made does not match its own pattern: it would be made again without end.
  if (made.length === 0) throw buildFailed(`the element made for "${part}" does not match its own pattern`)
  return field === '' ? made : collect(made, rest, create)
}

function selectItems(items: readonly YamlNode[], field: string, pattern: string): YamlNode[] {
  if (items.length === 0) return []
  const regex = compileRegex(pattern)
  return items.filter(item => {
    const value = field === '' ? item : fieldOf(item, field)
    return value !== undefined && regex.test(emitNode(value).trim())
  })
}
