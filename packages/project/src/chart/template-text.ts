import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { writeYaml } from '@coxswain/apimachinery/yaml'

/** Lines that stand in place of a key, given its indentation. */
export type Block = (indent: string) => readonly string[]

/**
 * Writes an object as YAML with template expressions in it. Expressions and blocks are put into the object as marks, which no YAML writer changes, and
 * replaced in the text; braces that the object itself has are escaped before that.
 */
export class TemplateText {
  readonly #expressions: string[] = []
  readonly #blocks: Block[] = []

  /** A mark for an expression, to be used anywhere in a string. */
  expression(text: string): string {
    return `XTPL${this.#expressions.push(text) - 1}X`
  }

  /** A mark for the whole value of a key. */
  block(lines: Block): string {
    return `XBLK${this.#blocks.push(lines) - 1}X`
  }

  write(object: JsonObject): string {
    return escapeBraces(writeYaml(object))
      .replaceAll(/^( *)[\w-]+: XBLK(\d+)X$/gm, (_, indent: string, at: string) =>
        this.#blocks[Number(at)]!(indent).join('\n'),
      )
      .replaceAll(/XTPL(\d+)X/g, (_, at: string) => `{{ ${this.#expressions[Number(at)]} }}`)
  }
}

/** Text that a template prints as it is. */
export function escapeBraces(text: string): string {
  return text.replaceAll(/\{\{|\}\}/g, braces => `{{ "${braces}" }}`)
}

/** `key:` with the YAML of a value, left out when the value is empty. */
export function optionalValue(key: string, value: string): Block {
  return indent => [
    `${indent}{{- with ${value} }}`,
    `${indent}${key}:`,
    `${indent}  {{- toYaml . | nindent ${indent.length + 2} }}`,
    `${indent}{{- end }}`,
  ]
}

/** A copy with every string mapped; keys stay. */
export function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map(each => mapStrings(each, map))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapStrings(each, map)]))
}
