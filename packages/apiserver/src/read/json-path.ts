import { writeJson } from '@coxswain/apimachinery/json'
import { BoundedMap } from '@coxswain/kit'

/**
 * The part of kubectl's JSONPath that printer columns use: fields, `['quoted']` fields, indexes (also negative),
 * slices, wildcards, `..` and `[?(@.field=="value")]` filters. A path without a match finds nothing.
 */
export type JsonPath = (root: unknown) => readonly unknown[]

type Step = (values: readonly unknown[]) => unknown[]

const compiled = new BoundedMap<string, JsonPath>(1_000)
const longestRemembered = 1_024

/** Throws an Error that describes what is wrong with the path. */
export function compileJsonPath(text: string): JsonPath {
  const known = compiled.get(text)
  if (known) return known
  const steps = parse(text)
  const path: JsonPath = root => steps.reduce<readonly unknown[]>((values, step) => step(values), [root])
  if (text.length > longestRemembered) return path
  compiled.set(text, path)
  return path
}

/** The path, or undefined if it cannot be parsed: CRD validation allows more than JSONPath. */
export function tryJsonPath(text: string): JsonPath | undefined {
  try {
    return compileJsonPath(text)
  } catch {
    return undefined
  }
}

/** A value as the text of a cell. */
export function printJsonPath(value: unknown): string {
  return typeof value === 'object' ? writeJson(value) : String(value)
}

function parse(text: string): Step[] {
  const steps: Step[] = []
  let at = 0
  const fail = (reason: string): never => {
    throw new Error(`JSONPath ${JSON.stringify(text)}: ${reason} at ${at}`)
  }
  if (text[at] === '$') at++
  while (at < text.length) {
    if (text[at] === '.') {
      at++
      if (text[at] === '.') {
        at++
        steps.push(recursive)
      }
      if (text[at] === '[') continue
      const name = /^(?:\\.|[^.[\]])+/.exec(text.slice(at))?.[0] ?? fail('a field name is missing')
      at += name.length
      steps.push(name === '*' ? wildcard : fieldStep(name.replace(/\\(.)/g, '$1')))
    } else if (text[at] === '[') {
      const end = findClose(text, at) ?? fail('"[" is not closed')
      steps.push(parseSubscript(text.slice(at + 1, end)) ?? fail('the subscript is not understood'))
      at = end + 1
    } else fail('"." or "[" is missing')
  }
  return steps
}

function findClose(text: string, open: number): number | undefined {
  let quote: string | undefined
  for (let i = open + 1; i < text.length; i++) {
    const c = text[i]
    if (quote) {
      if (c === '\\') i++
      else if (c === quote) quote = undefined
    } else if (c === '"' || c === "'") quote = c
    else if (c === ']') return i
  }
  return undefined
}

function parseSubscript(text: string): Step | undefined {
  if (text === '*') return wildcard
  const quoted = /^(['"])(.*)\1$/.exec(text)
  if (quoted) return fieldStep(quoted[2]!.replace(/\\(.)/g, '$1'))
  if (/^-?[0-9]+$/.test(text)) return indexStep(Number(text))
  const slice = /^(-?[0-9]*):(-?[0-9]*)$/.exec(text)
  if (slice) {
    const start = slice[1] === '' ? undefined : Number(slice[1])
    const end = slice[2] === '' ? undefined : Number(slice[2])
    return values => values.flatMap(value => (Array.isArray(value) ? value.slice(start, end) : []))
  }
  const filter = /^\?\(@((?:\.[\w-]+)+)\s*(==|!=|<=|>=|<|>)\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\)$/.exec(text)
  if (!filter) return undefined
  const names = filter[1]!.slice(1).split('.')
  const literal = filter[3] ?? filter[4] ?? filter[5]!
  const compare = comparisons[filter[2]!]!
  return values =>
    values.flatMap(value =>
      Array.isArray(value)
        ? value.filter(item => {
            const found = names.reduce<unknown>((held, name) => member(held, name), item)
            return found !== undefined && compare(typeof found === 'number' ? found : String(found), literal)
          })
        : [],
    )
}

const comparisons: Readonly<Record<string, (value: string | number, literal: string) => boolean>> = {
  '==': (value, literal) => String(value) === literal,
  '!=': (value, literal) => String(value) !== literal,
  '<': (value, literal) => (typeof value === 'number' ? value < Number(literal) : value < literal),
  '>': (value, literal) => (typeof value === 'number' ? value > Number(literal) : value > literal),
  '<=': (value, literal) => (typeof value === 'number' ? value <= Number(literal) : value <= literal),
  '>=': (value, literal) => (typeof value === 'number' ? value >= Number(literal) : value >= literal),
}

const wildcard: Step = values =>
  values.flatMap(value => {
    if (Array.isArray(value)) return value
    return typeof value === 'object' && value !== null ? Object.values(value) : []
  })

/** The values and every object and array nested in them, each once and parents first. */
const recursive: Step = values => {
  const found = new Set<object>()
  const left = [...values].reverse()
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value !== 'object' || value === null || found.has(value)) continue
    const inner = Object.values(value)
    if (inner.length > 0) found.add(value)
    for (let i = inner.length - 1; i >= 0; i--) left.push(inner[i])
  }
  return [...found]
}

function fieldStep(name: string): Step {
  return values =>
    values.flatMap(value => {
      const found = member(value, name)
      return found === undefined ? [] : [found]
    })
}

function indexStep(index: number): Step {
  return values =>
    values.flatMap(value => (Array.isArray(value) && value.at(index) !== undefined ? [value.at(index)] : []))
}

/** Own members only: a path never reaches a prototype. */
function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}
