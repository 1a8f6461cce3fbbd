import {
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml'
import { buildFailed, KustomizeError } from '../errors.ts'
import { assignNode, copyNode, type NodeStyle, tags, YamlNode } from './node.ts'
import { resolvePlain } from './resolve.ts'

/** The most bytes of a YAML text, values in it, and depth. */
const maxBytes = 16 * 1024 * 1024
const maxNodes = 1_000_000
const maxDepth = 500

const scalarStyles: Readonly<Record<number, NodeStyle>> = {
  [SCALAR_STYLE.PLAIN]: 'plain',
  [SCALAR_STYLE.SINGLE_QUOTED]: 'single',
  [SCALAR_STYLE.DOUBLE_QUOTED]: 'double',
  [SCALAR_STYLE.LITERAL_BLOCK]: 'literal',
  [SCALAR_STYLE.FOLDED_BLOCK]: 'folded',
}

/** The first document of a text, with aliases expanded and `<<` merged; undefined when there is none. */
export function parseYaml(text: string): YamlNode | undefined {
  if (text.length > maxBytes)
    throw new KustomizeError('TooLarge', `a YAML text has more than ${maxBytes} characters`)
  let events: readonly Event[]
  try {
    events = parseEvents(text, { maxDepth })
  } catch (error) {
    throw malformed(error)
  }
  return new TreeBuilder(text, events).build()
}

function malformed(error: unknown): unknown {
  if (!(error instanceof YAMLException)) return error
  const line = error.mark === undefined ? '' : `line ${error.mark.line + 1}: `
  return buildFailed(`MalformedYAMLError: yaml: ${line}${error.reason}`, error)
}

class TreeBuilder {
  readonly #text: string
  readonly #events: readonly Event[]
  readonly #anchors = new Map<string, YamlNode | undefined>()
  #at = 0
  #nodes = 0

  constructor(text: string, events: readonly Event[]) {
    this.#text = text
    this.#events = events
  }

  build(): YamlNode | undefined {
    const first = this.#events[this.#at++]
    if (first === undefined) return undefined
    return this.#node()
  }

  #node(): YamlNode {
    const event = this.#events[this.#at++]!
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, this.#scalar(event))
      case EVENT_ID.SEQUENCE: {
        const node = this.#count(new YamlNode('sequence', tags.sequence, ''))
        if (event.style === COLLECTION_STYLE.FLOW) node.style = 'flow'
        this.#open(event)
        while (this.#events[this.#at]!.type !== EVENT_ID.POP) node.content.push(this.#node())
        this.#at++
        return this.#anchored(event, node)
      }
      case EVENT_ID.MAPPING: {
        const node = this.#count(new YamlNode('mapping', tags.mapping, ''))
        if (event.style === COLLECTION_STYLE.FLOW) node.style = 'flow'
        this.#open(event)
        while (this.#events[this.#at]!.type !== EVENT_ID.POP) node.content.push(this.#node())
        this.#at++
        mergeKeys(node)
        return this.#anchored(event, node)
      }
      case EVENT_ID.ALIAS: {
        const name = this.#text.slice(event.anchorStart, event.anchorEnd)
        const target = this.#anchors.get(name)
        if (target === undefined) {
          const problem = this.#anchors.has(name) ? 'contains itself' : 'is not defined'
          throw buildFailed(`MalformedYAMLError: yaml: anchor '${name}' ${problem}`)
        }
        this.#nodes += sizeOf(target)
        this.#checkSize()
        return copyNode(target)
      }
      default:
        // A document without a value.
        return new YamlNode('scalar', tags.null, '')
    }
  }

  /** An alias of a node inside it is an error: the node is known only when it is complete. */
  #open(event: { anchorStart: number; anchorEnd: number }): void {
    if (event.anchorStart >= 0)
      this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), undefined)
  }

  #anchored(event: { anchorStart: number; anchorEnd: number }, node: YamlNode): YamlNode {
    if (event.anchorStart >= 0) this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), node)
    return node
  }

  #scalar(event: Extract<Event, { type: typeof EVENT_ID.SCALAR }>): YamlNode {
    const value = getScalarValue(this.#text, event)
    const style = scalarStyles[event.style]!
    const node = this.#count(new YamlNode('scalar', tags.string, value))
    node.style = style
    if (event.tagStart >= 0) {
      node.tag = shortTag(this.#text.slice(event.tagStart, event.tagEnd))
      node.tagged = node.tag !== '!'
      if (!node.tagged) node.tag = tags.string
    } else if (style === 'plain') node.tag = value === '<<' ? tags.merge : resolvePlain(value).tag
    return node
  }

  #count(node: YamlNode): YamlNode {
    node.parsed = true
    this.#nodes++
    this.#checkSize()
    return node
  }

  #checkSize(): void {
    if (this.#nodes > maxNodes)
      throw new KustomizeError(
        'TooLarge',
        `a YAML document has more than ${maxNodes} values after expansion of its aliases`,
      )
  }
}

function sizeOf(node: YamlNode): number {
  let size = 1
  for (const child of node.content) size += sizeOf(child)
  return size
}

const longPrefix = 'tag:yaml.org,2002:'

function shortTag(source: string): string {
  const tag = source.startsWith('!<') && source.endsWith('>') ? source.slice(2, -1) : source
  return tag.startsWith(longPrefix) ? `!!${tag.slice(longPrefix.length)}` : tag
}

/** Puts the fields of `<<` into the mapping; its own win. */
function mergeKeys(node: YamlNode): void {
  const at = node.content.findIndex((key, index) => index % 2 === 0 && key.tag === tags.merge)
  if (at < 0) return
  const [, value] = node.content.splice(at, 2)
  if (node.content.some((key, index) => index % 2 === 0 && key.tag === tags.merge))
    throw buildFailed('duplicate merge key')
  const own = new Map<string, number>()
  for (let i = 0; i < node.content.length; i += 2) own.set(node.content[i]!.value, i)
  const ownCount = node.content.length
  for (const source of mergeSources(value!)) {
    for (let i = 0; i < source.content.length; i += 2) {
      const key = source.content[i]!
      const known = own.get(key.value)
      if (known === undefined) {
        own.set(key.value, node.content.length)
        node.content.push(key, source.content[i + 1]!)
      } else if (known >= ownCount) assignNode(node.content[known + 1]!, source.content[i + 1]!)
    }
  }
}

/** From the weakest to the strongest. */
function mergeSources(value: YamlNode): YamlNode[] {
  if (value.kind === 'mapping') return [value]
  if (value.kind === 'scalar') throw buildFailed('map merge requires map or sequence of maps as the value')
  const sources: YamlNode[] = []
  for (const item of value.content) {
    if (item.kind !== 'mapping')
      throw buildFailed('invalid map merge: received a nested sequence or a scalar')
    sources.unshift(item)
  }
  return sources
}
