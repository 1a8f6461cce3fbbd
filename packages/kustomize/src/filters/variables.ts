import type { FieldSpec } from '../config/inputs.ts'
import { buildFailed } from '../errors.ts'
import type { JsonValue } from '../yaml/decode.ts'
import { isMissingOrNull, isStringNode, tags, type YamlNode } from '../yaml/node.ts'
import { printGoFloat } from '../yaml/number.ts'
import { applyFieldSpec } from './field-spec.ts'

/** The values of variables, and which of them were used. */
export class Variables {
  readonly #values: ReadonlyMap<string, JsonValue>
  readonly used: Set<string> = new Set()

  constructor(values: ReadonlyMap<string, JsonValue>) {
    this.#values = values
  }

  /** The value of `$(name)`; the reference itself when there is no such variable or it is not a scalar. */
  resolve(name: string): JsonValue {
    const value = this.#values.get(name)
    if (value === undefined || value === null || typeof value === 'object') return `$(${name})`
    this.used.add(name)
    return value
  }
}

/** Replaces `$(name)` at the fields of a spec. */
export function replaceVariables(root: YamlNode, spec: FieldSpec, variables: Variables): void {
  const change = (node: YamlNode): void => setValue(node, expand(node.value, variables))
  applyFieldSpec(root, spec, {
    set: node => {
      if (isMissingOrNull(node)) return
      if (node.kind === 'scalar') {
        if (isStringNode(node)) change(node)
      } else if (node.kind === 'mapping') {
        for (let at = 0; at + 1 < node.content.length; at += 2) {
          const key = node.content[at]!
          if (!isStringNode(key)) throw buildFailed(`invalid map key: value='${key.value}', tag='${key.tag}'`)
          if (isStringNode(node.content[at + 1]!)) change(node.content[at + 1]!)
        }
      } else {
        for (const item of node.content) {
          if (!isStringNode(item)) throw buildFailed('invalid value type expect a string')
          change(item)
        }
      }
    },
  })
}

function setValue(node: YamlNode, value: JsonValue): void {
  node.style = 'plain'
  if (typeof value === 'string') {
    node.value = value
    node.tag = tags.string
  } else if (typeof value === 'boolean') {
    node.value = String(value)
    node.tag = tags.boolean
  } else {
    const isWhole = typeof value === 'bigint' || Number.isInteger(value)
    node.value = String(value)
    node.tag = isWhole ? tags.integer : tags.float
  }
}

/** A text that is one reference takes the type of its value. `$$` is a dollar sign. */
function expand(text: string, variables: Variables): JsonValue {
  let result = ''
  let from = 0
  for (let at = text.indexOf('$'); at >= 0 && at + 1 < text.length; at = text.indexOf('$', from)) {
    result += text.slice(from, at)
    const next = text[at + 1]!
    const end = next === '(' ? text.indexOf(')', at + 2) : -1
    if (end >= 0) {
      const name = text.slice(at + 2, end)
      const value = variables.resolve(name)
      if (text === `$(${name})`) return value
      result += printValue(value)
      from = end + 1
    } else {
      result += next === '$' ? '$' : `$${next}`
      from = at + 2
    }
  }
  return result + text.slice(from)
}

const printValue = (value: JsonValue): string =>
  typeof value === 'number' && !Number.isInteger(value) ? printGoFloat(value) : String(value)
