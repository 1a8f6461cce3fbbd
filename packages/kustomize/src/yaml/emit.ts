import { KustomizeError } from '../errors.ts'
import { tags, type YamlNode } from './node.ts'
import { resolvePlain } from './resolve.ts'
import {
  analyzeScalar,
  writeDoubleQuoted,
  writeLiteral,
  writePlain,
  writeSingleQuoted,
} from './scalar-text.ts'

/** A node as YAML that keeps the styles of its source, for structured data inside a string. Lines are never folded. */
export function emitNode(node: YamlNode): string {
  if (node.kind === 'scalar') return `${scalarText(node, { indent: 0, inFlow: false, isKey: false })}\n`
  if (node.style === 'flow' || node.content.length === 0) return `${flowText(node)}\n`
  const emitter = new BlockEmitter()
  if (node.kind === 'mapping') emitter.mapping(node, 0, 0)
  else emitter.sequence(node, 0, 0)
  return emitter.text
}

class BlockEmitter {
  text = ''

  mapping(node: YamlNode, indent: number, firstColumn: number): void {
    let margin = ' '.repeat(indent - firstColumn)
    for (let at = 0; at + 1 < node.content.length; at += 2) {
      const value = node.content[at + 1]!
      this.text += `${margin}${scalarText(node.content[at]!, { indent, inFlow: false, isKey: true })}:`
      margin = ' '.repeat(indent)
      if (value.kind === 'scalar' || value.style === 'flow' || value.content.length === 0)
        this.text += this.#inline(value, indent + 2)
      else if (value.kind === 'mapping') {
        this.text += '\n'
        this.mapping(value, indent + 2, 0)
      } else {
        this.text += '\n'
        this.sequence(value, indent, 0)
      }
    }
  }

  sequence(node: YamlNode, indent: number, firstColumn: number): void {
    let margin = ' '.repeat(indent - firstColumn)
    for (const item of node.content) {
      this.text += `${margin}-`
      margin = ' '.repeat(indent)
      if (item.kind === 'scalar' || item.style === 'flow' || item.content.length === 0)
        this.text += this.#inline(item, indent + 2)
      else {
        this.text += ' '
        if (item.kind === 'mapping') this.mapping(item, indent + 2, indent + 2)
        else this.sequence(item, indent + 2, indent + 2)
      }
    }
  }

  #inline(node: YamlNode, indent: number): string {
    const text =
      node.kind === 'scalar' ? scalarText(node, { indent, inFlow: false, isKey: false }) : flowText(node)
    return text === '' ? '\n' : ` ${text}\n`
  }
}

function flowText(node: YamlNode): string {
  if (node.kind === 'scalar') return scalarText(node, { indent: 0, inFlow: true, isKey: false })
  if (node.kind === 'sequence') return `[${node.content.map(flowText).join(', ')}]`
  const entries: string[] = []
  for (let at = 0; at + 1 < node.content.length; at += 2)
    entries.push(
      `${scalarText(node.content[at]!, { indent: 0, inFlow: true, isKey: true })}: ${flowText(node.content[at + 1]!)}`,
    )
  return `{${entries.join(', ')}}`
}

interface ScalarContext {
  readonly indent: number
  readonly inFlow: boolean
  readonly isKey: boolean
}

function scalarText(node: YamlNode, { indent, inFlow, isKey }: ScalarContext): string {
  const { value } = node
  const place = { column: 0, indent, width: Infinity }
  const analysis = analyzeScalar(value)
  let style = node.style === 'flow' ? 'plain' : node.style
  let tag = ''
  if (style === 'plain' && value.includes('\n')) style = 'literal'
  if (node.tag !== '') {
    const resolved = resolvePlain(value).tag
    if (node.tag === tags.string) {
      if (resolved !== tags.string && style === 'plain') style = 'double'
    } else if (resolved !== node.tag || node.tagged) tag = `${node.tag} `
  }
  if (style === 'folded')
    throw new KustomizeError(
      'NotSupported',
      'a replacement inside YAML text that uses the style ">" is not supported',
    )
  if (isKey && analysis.multiline) style = 'double'
  if (style === 'plain') {
    const isAllowed = inFlow ? analysis.flowPlain : analysis.blockPlain
    if (!isAllowed || (value === '' && (inFlow || isKey))) style = 'single'
  }
  if (style === 'single' && !analysis.single) style = 'double'
  if (style === 'literal' && (!analysis.block || inFlow || isKey)) style = 'double'
  switch (style) {
    case 'plain':
      return tag + writePlain(value, place)
    case 'single':
      return tag + writeSingleQuoted(value, place)
    case 'literal':
      return tag + writeLiteral(value, indent === 0 ? 2 : indent)
    default:
      return tag + writeDoubleQuoted(value, place)
  }
}
