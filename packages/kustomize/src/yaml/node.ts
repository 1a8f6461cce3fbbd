/**
 * A YAML document as a tree that can be changed: scalars keep their text, their tag and how they were quoted, because all
 * three decide what kustomize writes in the end.
 */
export type NodeKind = 'mapping' | 'sequence' | 'scalar'

export const tags = {
  string: '!!str',
  integer: '!!int',
  float: '!!float',
  boolean: '!!bool',
  null: '!!null',
  timestamp: '!!timestamp',
  merge: '!!merge',
  binary: '!!binary',
  mapping: '!!map',
  sequence: '!!seq',
} as const

/** How a node was written. */
export type NodeStyle = 'plain' | 'single' | 'double' | 'literal' | 'folded' | 'flow'

/**
 * Nodes are shared on purpose where kustomize shares them: a label that one transformer sets in several places of an object is one
 * node, and a replacement of it shows in all of them.
 */
export class YamlNode {
  kind: NodeKind
  /** A short tag such as `!!int`; empty where none was set: the text decides when it is written. */
  tag: string
  /** The text of a scalar. */
  value: string
  style: NodeStyle
  /** Items of a sequence; keys and values of a mapping in turn. */
  content: YamlNode[]
  /** Whether the tag was written in the source. */
  tagged = false
  /** Whether it comes from a source as it is: validators may not even set a field to what it was. */
  parsed = false

  constructor(kind: NodeKind, tag: string, value: string) {
    this.kind = kind
    this.tag = tag
    this.value = value
    this.style = 'plain'
    this.content = kind === 'scalar' ? noContent : []
  }
}

/** Scalars share it: most nodes are scalars. */
const noContent = Object.freeze([]) as unknown as YamlNode[]

/** A scalar whose type its text decides. */
export const scalarNode = (value: string, tag = ''): YamlNode => new YamlNode('scalar', tag, value)

export const stringNode = (value: string): YamlNode => {
  const node = scalarNode(value, tags.string)
  if (value.includes('\n')) node.style = 'literal'
  return node
}

export const mappingNode = (): YamlNode => new YamlNode('mapping', '', '')

export const sequenceNode = (): YamlNode => new YamlNode('sequence', '', '')

export const emptyNode = (kind: NodeKind): YamlNode => new YamlNode(kind, '', '')

export function copyNode(node: YamlNode): YamlNode {
  const copy = new YamlNode(node.kind, node.tag, node.value)
  copy.style = node.style
  copy.tagged = node.tagged
  copy.parsed = node.parsed
  if (node.content.length > 0) copy.content = node.content.map(copyNode)
  return copy
}

/** Makes `target` what `source` is; they share their content then. */
export function assignNode(target: YamlNode, source: YamlNode): void {
  target.kind = source.kind
  target.tag = source.tag
  target.value = source.value
  target.style = source.style
  target.content = source.content
  target.tagged = source.tagged
  target.parsed = source.parsed
}

export const isNullNode = (node: YamlNode | undefined): boolean =>
  node !== undefined && node.tag === tags.null

export const isMissingOrNull = (node: YamlNode | undefined): node is undefined =>
  node === undefined || node.tag === tags.null

/** True also for an empty mapping or sequence. */
export const isEmptyNode = (node: YamlNode | undefined): boolean =>
  node === undefined || node.tag === tags.null || (node.kind !== 'scalar' && node.content.length === 0)

export const isStringNode = (node: YamlNode): boolean =>
  node.kind === 'scalar' && (node.tag === tags.string || node.tag === '')

/** The text of a scalar; empty for what is missing, null or not a scalar. */
export const textOf = (node: YamlNode | undefined): string => (isMissingOrNull(node) ? '' : node!.value)

/** The value of a field; undefined when there is none or this is not a mapping. */
export function fieldOf(node: YamlNode | undefined, name: string): YamlNode | undefined {
  if (node === undefined) return undefined
  const { content } = node
  if (node.kind !== 'mapping') return undefined
  for (let at = 0; at < content.length; at += 2) if (content[at]!.value === name) return content[at + 1]
  return undefined
}

/** Whether two nodes are the same in all that they are. */
export const sameNodes = (a: YamlNode, b: YamlNode): boolean =>
  a.kind === b.kind &&
  a.tag === b.tag &&
  a.value === b.value &&
  a.style === b.style &&
  a.parsed === b.parsed &&
  a.content.length === b.content.length &&
  a.content.every((child, at) => sameNodes(child, b.content[at]!))
