import { allTables } from '../registry.ts'
import { rowOf, type Table, type TypeExpression, type TypeRow, typeRows } from '../table/table.ts'

/** A number from 0 to just below 1. */
export type Random = () => number

/** A stream of numbers that a seed decides: what is recorded must be made again. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** The kinds of a table that protobuf has. */
export function kindsOf(table: Table): TypeRow[] {
  return [...typeRows(table).values()].filter(row => row.isKind && row.fields.some(field => field.number > 0))
}

/** Two objects of every kind of a stable version, always the same ones: what upstream makes of them is recorded. */
export function randomObjects(): Record<string, unknown>[] {
  const random = createRandom(1)
  const stable = allTables().filter(table => /^v\d+$/.test(table.version) && !unregistered.has(table.alias))
  const kinds = stable.flatMap(kindsOf)
  return [...kinds, ...kinds].map(row => randomObject(row, random))
}

/** What the recording program's scheme does not know. */
const unregistered: ReadonlySet<string> = new Set(['meta.v1', 'apidiscovery.v2'])

/** An object of a kind with some of its fields set, now and then to the zero value of their types. */
export function randomObject(row: TypeRow, random: Random): Record<string, unknown> {
  const { group, version } = row.table
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { apiVersion, kind: row.short, ...randomFields(row, { random, depth: 0 }) }
}

interface Context {
  readonly random: Random
  readonly depth: number
}

function randomFields(row: TypeRow, context: Context): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  // Deep inside little is set, so that an object stays within a few kilobytes.
  const share = [0.6, 0.6, 0.5, 0.3, 0.25, 0.2, 0.1][context.depth] ?? 0
  for (const field of row.fields) {
    if (field.number === 0) continue
    if (field.json === '' && field.type.form === 'ref') {
      Object.assign(object, randomFields(rowOf(field.type), context))
    } else if (context.random() < share) object[field.json] = randomValue(field.type, context)
  }
  return object
}

function randomValue(type: TypeExpression, context: Context): unknown {
  const { random } = context
  const inner = { random, depth: context.depth + 1 }
  switch (type.form) {
    case 'list':
      return Array.from({ length: pick(random, [0, 1, 2]) }, () => randomValue(type.element, inner))
    case 'map': {
      const keys = ['zone', 'a.example.com/b', 'é', ''].slice(0, pick(random, [0, 1, 3, 4]))
      return Object.fromEntries(keys.map(key => [key, randomValue(type.element, inner)]))
    }
    case 'basic':
      return pick(random, basics[type.basic] ?? [''])
    case 'special':
      return pick(random, specials[type.special] ?? [])
    case 'ref': {
      const row = rowOf(type)
      return row.isSpecial
        ? pick(random, unions[row.short] ?? [{ any: true }, 'x', 1.5])
        : randomFields(row, inner)
    }
  }
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)] as T
}

const basics: Readonly<Record<string, readonly unknown[]>> = {
  string: ['', 'a', 'some text', 'größer 🚢', 'x'.repeat(200)],
  bool: [true, false],
  int32: [0, 1, -1, 300, 2 ** 31 - 1, -(2 ** 31)],
  int64: [0, 1, -1, 2 ** 40, -(2 ** 53) + 1],
  float64: [0, 0.5, -3, 1e21],
  bytes: ['', 'AA==', 'AAE=', 'AAEC/w=='],
  any: [{}],
}

const specials: Readonly<Record<string, readonly unknown[]>> = {
  time: [
    null,
    '2024-02-29T12:00:00Z',
    '1969-12-31T23:59:59Z',
    '2024-02-29T12:00:00+02:00',
    '0001-01-01T00:00:00Z',
  ],
  microtime: [
    null,
    '2024-02-29T12:00:00.123456Z',
    '1969-12-31T23:59:59.000001Z',
    '2024-02-29T12:00:00.100000-07:00',
  ],
  quantity: ['0', '1500m', '1Gi', '-3', '12e6'],
  intstr: [0, -5, 8080, '', '25%'],
  raw: [{ apiVersion: 'example.com/v1', kind: 'Thing', list: [1, 'a', null] }],
  fields: [{}, { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }],
}

const unions: Readonly<Record<string, readonly unknown[]>> = {
  JSONSchemaPropsOrArray: [{ type: 'string' }, [{ type: 'string' }, { title: 'b' }]],
  JSONSchemaPropsOrBool: [true, false, { type: 'integer' }],
  JSONSchemaPropsOrStringArray: [{ type: 'string' }, ['a', 'b']],
}
