import { decodeText, encodeText } from '@coxswain/kit'
import { constructFromEvents, EVENT_ALIAS, type Event, parseEvents, YAMLException } from 'js-yaml'
import { isMachineryError, MachineryError } from '../errors.ts'
import { maxJsonBytes, readJson } from '../json/read-json.ts'
import { setMember } from '../json/value.ts'
import { findDuplicateKeys } from './duplicate-keys.ts'
import { kubernetesSchema } from './scalars.ts'

/** Limits of a YAML text. */
export interface ReadYamlOptions {
  /** The maximum number of bytes. @default maxJsonBytes */
  readonly maxBytes?: number
  /** The maximum number of aliases (`*name`). @default 1000 */
  readonly maxAliases?: number
  /** The maximum number of values after alias expansion. @default 500000 */
  readonly maxNodes?: number
}

/** A parsed document. */
export interface YamlDocument {
  readonly value: unknown
  /** Strict decoding errors: one text about all duplicate keys, by line. The last one won. */
  readonly problems: readonly string[]
}

const defaults = { maxBytes: maxJsonBytes, maxAliases: 1_000, maxNodes: 500_000 } as const
const maxDepth = 1_000
/** Bytes of a JSON text that the YAML reader reads as well to say on which lines it repeats members. */
const rereadLimit = 16 * 1024

/** The first document, as the API server parses a body; undefined when there is none. */
export function readYaml(
  input: string | Uint8Array,
  options: ReadYamlOptions = {},
): YamlDocument | undefined {
  return readYamlDocuments(input, options)[0]
}

/**
 * All documents that are not empty, as kubectl reads a file. JSON is YAML, and is parsed by the JSON reader. Values share no
 * parts: aliases are expanded. Throws a MachineryError: `BadYaml`, or `JsonTooLarge` past the size.
 */
export function readYamlDocuments(input: string | Uint8Array, options: ReadYamlOptions = {}): YamlDocument[] {
  const limits = { ...defaults, ...options }
  const bytes = typeof input === 'string' ? encodeText(input) : input
  if (bytes.length > limits.maxBytes) throw new MachineryError('JsonTooLarge', `limit is ${limits.maxBytes}`)
  const json = readAsJson(bytes, limits.maxBytes)
  if (json !== undefined) return [json]
  const text = typeof input === 'string' ? input : decodeText(input)
  const events = attempt(() => parseEvents(text, { maxDepth }))
  const hasAliases = events.some(event => event.type === EVENT_ALIAS)
  const problems: string[] = []
  const values = construct(text, events, limits.maxAliases, problems)
  const documents: YamlDocument[] = []
  for (const value of values) {
    if (value === null || value === undefined) continue
    documents.push({ value: new Expansion(limits.maxNodes, hasAliases).copy(value), problems })
  }
  return documents
}

function readAsJson(bytes: Uint8Array, maxBytes: number): YamlDocument | undefined {
  const first = bytes.find(byte => byte > 0x20)
  if (first !== 0x7b && first !== 0x5b) return undefined
  try {
    const { value, duplicates } = readJson(bytes, { maxBytes, literals: false })
    return { value, problems: duplicates.length === 0 ? [] : describeRepeated(bytes, duplicates) }
  } catch (error) {
    // Flow style that is not JSON.
    if (isMachineryError(error, 'BadJson')) return undefined
    throw error
  }
}

function construct(source: string, events: Event[], maxAliases: number, problems: string[]): unknown[] {
  const options = { source, schema: kubernetesSchema, maxAliases }
  try {
    return constructFromEvents(events, options)
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== 'duplicated mapping key') throw badYaml(error)
    for (const problem of duplicateProblems(findDuplicateKeys(source, events))) problems.push(problem)
    return attempt(() => constructFromEvents(events, { ...options, json: true }))
  }
}

/** Repeated members of a JSON text in YAML's words, unless it is so long that reading it again costs too much. */
function describeRepeated(bytes: Uint8Array, duplicates: readonly string[]): string[] {
  if (bytes.length <= rereadLimit) {
    const text = decodeText(bytes)
    try {
      return duplicateProblems(findDuplicateKeys(text, parseEvents(text, { maxDepth })))
    } catch {
      // Not every JSON is YAML: tabs and some escapes are not.
    }
  }
  return duplicates.map(path => `duplicate field "${path}"`)
}

function duplicateProblems(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [['yaml: unmarshal errors:', ...lines].join('\n  ')]
}

function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw badYaml(error)
  }
}

function badYaml(error: unknown): MachineryError {
  if (!(error instanceof YAMLException)) {
    return new MachineryError('BadYaml', 'error converting YAML to JSON: yaml: nested too deeply', {
      cause: error,
    })
  }
  const where = error.mark === undefined ? '' : `line ${lineOf(error)}: `
  return new MachineryError('BadYaml', `error converting YAML to JSON: yaml: ${where}${error.reason}`, {
    cause: error,
  })
}

function lineOf(error: YAMLException): number {
  return (error.mark?.line ?? 0) + 1
}

/** Expands aliases, so that no two paths share a value, and counts: a short text can expand to billions of values. */
class Expansion {
  #left: number
  readonly #hasAliases: boolean
  readonly #open = new Set<object>()

  constructor(maxNodes: number, hasAliases: boolean) {
    this.#left = maxNodes
    this.#hasAliases = hasAliases
  }

  copy(value: unknown): unknown {
    if (--this.#left < 0) throw new MachineryError('BadYaml', 'yaml: document contains excessive aliasing')
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new MachineryError('BadYaml', `json: unsupported value: ${printSpecial(value)}`)
    }
    if (typeof value !== 'object' || value === null) return value
    if (this.#open.has(value)) throw new MachineryError('BadYaml', 'yaml: anchor value contains itself')
    if (this.#hasAliases) this.#open.add(value)
    const copy = this.#copyContainer(value)
    this.#open.delete(value)
    return copy
  }

  #copyContainer(value: object): object {
    if (Array.isArray(value)) return value.map(item => this.copy(item))
    const copy: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) setMember(copy, key, this.copy(member))
    return copy
  }
}

function printSpecial(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
