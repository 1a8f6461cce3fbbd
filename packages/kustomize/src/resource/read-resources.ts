import { buildFailed } from '../errors.ts'
import type { Schemas } from '../schema/schemas.ts'
import { jsonToNode, nodeToJson } from '../yaml/decode.ts'
import { fieldOf, isEmptyNode, isNullNode, textOf, type YamlNode } from '../yaml/node.ts'
import { parseYaml } from '../yaml/parse.ts'
import { Resource } from './resource.ts'

/** The objects in a YAML text; lists are the objects in them. */
export function readResources(text: string, schemas: Schemas): Resource[] {
  return inlineLists(readNodes(text)).map(node => new Resource(node, schemas))
}

function readNodes(source: string): YamlNode[] {
  const texts = splitDocuments(source.replaceAll('\r\n', '\n'))
  const nodes: YamlNode[] = []
  for (const text of texts) {
    const node = parseYaml(text)
    if (node === undefined || isNullNode(node)) continue
    const kind = textOf(fieldOf(node, 'kind'))
    const items = fieldOf(node, 'items')
    const isWrapped = texts.length === 1 && (kind === 'List' || kind === 'ResourceList')
    if (isWrapped && (items !== undefined || fieldOf(node, 'functionConfig') !== undefined))
      for (const item of items?.content ?? []) nodes.push(item)
    else nodes.push(node)
  }
  return dropEmpty(nodes)
}

/** Drops empty documents; the others have to be objects with a kind and a name. */
function dropEmpty(nodes: readonly YamlNode[]): YamlNode[] {
  const left = nodes.filter(node => !isEmptyNode(node))
  for (const node of left) checkMetadata(node)
  return left
}

export function checkMetadata(node: YamlNode): void {
  const kind = textOf(fieldOf(node, 'kind'))
  const metadata = fieldOf(node, 'metadata')
  const name = fieldOf(isEmptyNode(metadata) ? undefined : metadata, 'name')
  if (kind === '') {
    const isObject = !isEmptyNode(metadata) || textOf(fieldOf(node, 'apiVersion')) !== ''
    throw buildFailed(isObject ? 'missing kind in object' : 'missing Resource metadata')
  }
  if (!kind.endsWith('List') && (isEmptyNode(name) || name!.value === ''))
    throw buildFailed(`missing metadata.name in object {${kind}}`)
}

const separator = /\n---.*\n/g

function splitDocuments(text: string): string[] {
  if (text === '') return []
  const documents: string[] = []
  let from = 0
  for (const match of text.matchAll(separator)) {
    const rest = match[0].slice(4).trim()
    if (rest !== '' && !rest.startsWith('#'))
      throw buildFailed(`invalid document separator: ${match[0].trim()}`)
    documents.push(`${text.slice(from, match.index)}\n`)
    from = match.index + match[0].length
  }
  documents.push(text.slice(from))
  return documents
}

/** Replaces lists by their items, which come after the other objects. */
function inlineLists(nodes: readonly YamlNode[]): YamlNode[] {
  const result: YamlNode[] = []
  const queue = [...nodes]
  for (let at = 0; at < queue.length; at++) {
    const node = queue[at]!
    const kind = textOf(fieldOf(node, 'kind'))
    const items = kind.endsWith('List') ? fieldOf(node, 'items') : undefined
    if (items === undefined) result.push(node)
    else if (isNullNode(items)) continue
    else if (items.kind !== 'sequence') throw buildFailed(`expected array in ${kind}/items`)
    else
      for (const item of dropEmpty(items.content.map(each => jsonToNode(nodeToJson(each))))) queue.push(item)
  }
  return result
}
