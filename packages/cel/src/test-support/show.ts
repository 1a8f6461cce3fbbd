import { printFloat } from '@coxswain/apimachinery/go'
import { formatDuration, formatTimestamp } from '../time.ts'
import {
  CelDouble,
  CelUint,
  Duration,
  isMapValue,
  ListValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  type Value,
} from '../values.ts'

/** A value in the notation of the recorded answers. */
export function show(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof Uint8Array) return `bytes(${Buffer.from(value).toString('hex')})`
  if (value instanceof CelUint) return `${value.value}u`
  if (value instanceof CelDouble) {
    return `double(${Number.isInteger(value.value) ? value.value.toFixed(0) : printFloat(value.value)})`
  }
  if (value instanceof Timestamp) return `google.protobuf.Timestamp(${formatTimestamp(value)})`
  if (value instanceof Duration) return `google.protobuf.Duration(${formatDuration(value)})`
  if (value instanceof OptionalValue) return value.value === undefined ? 'none' : `some(${show(value.value)})`
  if (value instanceof TypeValue) return `type(${value.type.name})`
  if (value instanceof ListValue) return `[${value.toArray().map(show).join(', ')}]`
  if (!isMapValue(value)) return value.celType.name
  const entries = value.keys().map(key => `${show(key)}: ${show(value.get(key) as Value)}`)
  return `{${entries.sort().join(', ')}}`
}
