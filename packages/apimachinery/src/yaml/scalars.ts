import {
  boolYaml11Tag,
  defineMappingTag,
  defineScalarTag,
  FAILSAFE_SCHEMA,
  mergeTag,
  NOT_RESOLVED,
  Schema,
  strTag,
} from 'js-yaml'
import { setMember } from '../json/value.ts'

/**
 * YAML as kubectl and the API server read it: YAML 1.1 with the differences of the Go library behind both.
 *
 *   y yes on true / n no off false     booleans, in lower, upper and title case
 *   0755 0o17 0x1f 0b11 1_000          whole numbers (493, 15, 31, 3, 1000); beyond 2^53 bigint, beyond int64 double
 *   1e3 .5 08                          doubles
 *   12:30:45 2024-01-02 1__            strings: no base 60, no timestamps
 *   ~ null and nothing                 null
 */
const nulls = new Set(['', '~', 'null', 'Null', 'NULL'])
const trues = ['y', 'yes', 'true', 'on']
const falses = ['n', 'no', 'false', 'off']

const booleans: ReadonlyMap<string, boolean> = new Map(
  [...trues, ...falses].flatMap(word => {
    const value = trues.includes(word)
    return [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)].map(
      form => [form, value] as const,
    )
  }),
)

const nullTag = defineScalarTag<null>('tag:yaml.org,2002:null', {
  implicit: true,
  implicitFirstChars: ['', '~', 'n', 'N'],
  resolve: source => (nulls.has(source) ? null : NOT_RESOLVED),
  identify: data => data === null,
  represent: () => 'null',
})

const boolTag = defineScalarTag<boolean>('tag:yaml.org,2002:bool', {
  implicit: true,
  implicitFirstChars: [...'yYnNtTfFoO'],
  resolve: source => booleans.get(source) ?? NOT_RESOLVED,
  identify: boolYaml11Tag.identify,
  represent: boolYaml11Tag.represent,
})

const numberStart = [...'+-0123456789']

const intTag = defineScalarTag<number | bigint>('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: numberStart,
  resolve: source => parseWhole(source) ?? NOT_RESOLVED,
  identify: data => typeof data === 'bigint' || Number.isInteger(data),
})

const floatTag = defineScalarTag<number>('tag:yaml.org,2002:float', {
  implicit: true,
  implicitFirstChars: [...numberStart, '.'],
  resolve: source => parseDouble(source) ?? NOT_RESOLVED,
  identify: data => typeof data === 'number',
})

const wholeForm = /^[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/

function parseWhole(source: string): number | bigint | undefined {
  const plain = source.replaceAll('_', '')
  if (!wholeForm.test(plain) || plain.length > 80) return undefined
  const negative = plain.startsWith('-')
  const digits = plain.replace(/^[+-]/, '')
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  const value = negative ? -BigInt(octal) : BigInt(octal)
  if (value >= -(2n ** 53n) && value <= 2n ** 53n) return Number(value)
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return undefined
  return value < 2n ** 63n ? value : Number(value)
}

const doubleForm = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const infinities: Readonly<Record<string, number>> = {
  '.inf': Infinity,
  '+.inf': Infinity,
  '-.inf': -Infinity,
}

function parseDouble(source: string): number | undefined {
  const plain = source.replaceAll('_', '')
  if (doubleForm.test(plain)) return Number(plain)
  const word = source.toLowerCase()
  if (word === '.nan') return Number.NaN
  return Object.hasOwn(infinities, word) ? infinities[word] : undefined
}

/** Objects with string keys, as JSON needs them: numbers and booleans are formatted, other keys are rejected. */
const objectTag = defineMappingTag<Record<string, unknown>>('tag:yaml.org,2002:map', {
  create: () => ({}),
  addPair: (object, key, value) => {
    const name = keyText(key)
    if (name === undefined) return `unsupported map key of type: ${key === null ? 'null' : typeof key}`
    setMember(object, name, value)
    return ''
  },
  has: (object, key) => Object.hasOwn(object, keyText(key) ?? ''),
  keys: object => Object.keys(object),
  get: (object, key) => object[String(key)],
  identify: data => typeof data === 'object' && data !== null && !Array.isArray(data),
})

function keyText(key: unknown): string | undefined {
  switch (typeof key) {
    case 'string':
      return key
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(key)
    default:
      return undefined
  }
}

/** The plain scalars of Kubernetes. */
export const kubernetesSchema: Schema = new Schema([
  ...FAILSAFE_SCHEMA.tags.filter(tag => tag.nodeKind === 'sequence'),
  strTag,
  nullTag,
  boolTag,
  intTag,
  floatTag,
  mergeTag,
  objectTag,
])
