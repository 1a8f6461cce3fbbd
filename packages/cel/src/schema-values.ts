import type { Schema } from '@coxswain/apimachinery/schema'
import { decodeBareBase64 } from './libraries/encoders.ts'
import { parseDuration, parseTimestamp } from './time.ts'
import {
  CelDouble,
  type Converter,
  Duration,
  EntryMap,
  fault,
  ListValue,
  type MapKey,
  Timestamp,
  toInt,
  type Value,
} from './values.ts'

function goType(raw: unknown): string {
  if (typeof raw === 'number') return Number.isInteger(raw) ? 'int64' : 'float64'
  if (typeof raw === 'bigint') return 'int64'
  if (typeof raw === 'boolean') return 'bool'
  if (Array.isArray(raw)) return '[]interface {}'
  return typeof raw === 'object' ? 'map[string]interface {}' : typeof raw
}

const toText: Converter = raw =>
  typeof raw === 'string' ? raw : fault(`invalid data, expected string, got ${goType(raw)}`)

const toInteger: Converter = raw => {
  if (typeof raw === 'number' && Number.isInteger(raw)) return raw
  if (typeof raw === 'bigint') return toInt(raw)
  return fault(`invalid data, expected int, got ${goType(raw)}`)
}

const toNumber: Converter = raw => {
  if (typeof raw === 'number' || typeof raw === 'bigint') return new CelDouble(Number(raw))
  return fault(`invalid data, expected float, got ${goType(raw)}`)
}

const toBool: Converter = raw =>
  typeof raw === 'boolean' ? raw : fault(`invalid data, expected bool, got ${goType(raw)}`)

const toIntOrString: Converter = raw => {
  if (typeof raw === 'string' || (typeof raw === 'number' && Number.isInteger(raw))) return raw
  return fault('invalid data, expected XIntOrString value to be either a string or integer')
}

const words: Readonly<Record<string, bigint>> = { d: 24n, w: 168n }

/** Go's durations, and the days and weeks that Kubernetes' format accepts besides. */
function toDuration(text: string): Duration | undefined {
  const parsed = parseDuration(text)
  if (parsed !== undefined) return parsed
  const found = /^(\d+)\s*(d|day|days|w|week|weeks)$/.exec(text)
  if (found === null) return undefined
  return new Duration(
    BigInt(found[1] ?? 0) * (words[(found[2] ?? 'd')[0] as string] ?? 0n) * 3_600_000_000_000n,
  )
}

const toDurationValue: Converter = raw => {
  const text = toText(raw) as string
  return toDuration(text) ?? fault(`Invalid duration ${text}: unable to parse ${text} as duration`)
}

const toDate: Converter = raw => {
  const text = toText(raw) as string
  return (
    parseTimestamp(`${text}T00:00:00Z`) ??
    fault(`Invalid date formatted string ${text}: parsing time "${text}" as "2006-01-02"`)
  )
}

const toDateTime: Converter = raw => {
  const text = toText(raw) as string
  if (text === '') return new Timestamp(0, 0)
  const normal = text.replace(/^(\d{4}-\d{2}-\d{2})[tT ]/, '$1T').replace(/z$/, 'Z')
  const parsed = parseTimestamp(normal) ?? parseTimestamp(`${normal}Z`)
  return parsed ?? fault(`Invalid date-time formatted string ${text}: parsing time "${text}"`)
}

const toBytes: Converter = raw => {
  const text = toText(raw) as string
  return (
    decodeBareBase64(text) ??
    fault(`Invalid byte formatted string ${text}: illegal base64 data at input byte 0`)
  )
}

const stringFormats: Readonly<Record<string, Converter>> = {
  __proto__: null as never,
  duration: toDurationValue,
  date: toDate,
  'date-time': toDateTime,
  byte: toBytes,
}

export function scalarConverter(schema: Schema): Converter {
  if (schema['x-kubernetes-int-or-string'] === true) return toIntOrString
  switch (schema.type) {
    case 'string':
      return stringFormats[schema.format ?? ''] ?? toText
    case 'integer':
      return toInteger
    case 'number':
      return toNumber
    default:
      return toBool
  }
}

/** JSON without a schema: whole numbers are ints, the others doubles. */
export function jsonValue(raw: unknown): Value {
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : new CelDouble(raw)
  if (typeof raw === 'bigint') return toInt(raw)
  if (typeof raw === 'string' || typeof raw === 'boolean') return raw
  if (Array.isArray(raw)) return new ListValue(raw, jsonValue)
  const entries = new Map<MapKey, readonly [Value, Value]>()
  for (const [key, value] of Object.entries(raw)) entries.set(key, [key, jsonValue(value)])
  return new EntryMap(entries)
}
