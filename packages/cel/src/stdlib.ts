import { printFloat } from '@coxswain/apimachinery/go'
import { encodeText } from '@coxswain/kit'
import { typeOfValue } from './equality.ts'
import { type Library, type Overload, overload } from './functions.ts'
import { operatorLibrary } from './operators.ts'
import { matches } from './regex.ts'
import { codePointLength, decodeUtf8 } from './text.ts'
import {
  type CalendarFields,
  calendar,
  durationIn,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  timestampToInt,
} from './time.ts'
import {
  CelDouble,
  CelUint,
  checkedInt,
  checkedUint,
  Duration,
  fault,
  type ListValue,
  type MapValue,
  Timestamp,
  TypeValue,
  toInt,
  type Value,
} from './values.ts'

function doubleToInt(d: CelDouble): Value {
  const v = d.value
  if (!Number.isFinite(v) || v >= 2 ** 63 || v <= -(2 ** 63)) fault('integer overflow')
  return toInt(BigInt(Math.trunc(v)))
}

function doubleToUint(d: CelDouble): Value {
  const v = d.value
  if (!Number.isFinite(v) || v >= 2 ** 64 || v < 0) fault('unsigned integer overflow')
  return new CelUint(BigInt(Math.trunc(v)))
}

function cannotConvert(type: string): string {
  return `type conversion error from 'string' to '${type}'`
}

function parseInt64(text: string): Value {
  if (!/^[+-]?\d+$/.test(text)) fault(cannotConvert('int'))
  return checkedInt(BigInt(text.replace(/^\+/, '')), cannotConvert('int'))
}

function parseUint64(text: string): Value {
  if (!/^\d+$/.test(text)) fault(cannotConvert('uint'))
  return checkedUint(BigInt(text), cannotConvert('uint'))
}

const floatText = /^[+-]?(?:\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf|infinity|nan)$/i

function parseDouble(text: string): Value {
  if (!floatText.test(text)) fault(cannotConvert('double'))
  const word = text.replace(/^[+-]/, '').toLowerCase()
  if (word.startsWith('inf')) return new CelDouble(text.startsWith('-') ? -Infinity : Infinity)
  return new CelDouble(word === 'nan' ? Number.NaN : Number(text))
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map(t => [t, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map(t => [t, false] as const),
])

function toBool(text: string): boolean {
  return booleans.get(text) ?? fault(cannotConvert('bool'))
}

function toTimestamp(text: string): Timestamp {
  return parseTimestamp(text) ?? fault(cannotConvert('google.protobuf.Timestamp'))
}

function toDuration(text: string): Duration {
  return parseDuration(text) ?? fault(cannotConvert('google.protobuf.Duration'))
}

const same = (v: Value): Value => v

const conversions: readonly Overload[] = [
  overload('bool_to_bool', 'bool(bool): bool', same),
  overload('string_to_bool', 'bool(string): bool', toBool),
  overload('bytes_to_bytes', 'bytes(bytes): bytes', same),
  overload('string_to_bytes', 'bytes(string): bytes', encodeText),
  overload('double_to_double', 'double(double): double', same),
  overload('int64_to_double', 'double(int): double', (v: number | bigint) => new CelDouble(Number(v))),
  overload('string_to_double', 'double(string): double', parseDouble),
  overload('uint64_to_double', 'double(uint): double', (v: CelUint) => new CelDouble(Number(v.value))),
  overload('duration_to_duration', 'duration(duration): duration', same),
  overload('string_to_duration', 'duration(string): duration', toDuration),
  overload('int64_to_duration', 'duration(int): duration', (v: number | bigint) => new Duration(BigInt(v))),
  overload('to_dyn', 'dyn(A): dyn', same),
  overload('int64_to_int64', 'int(int): int', same),
  overload('double_to_int64', 'int(double): int', doubleToInt),
  overload('duration_to_int64', 'int(duration): int', (v: Duration) => toInt(v.nanos)),
  overload('string_to_int64', 'int(string): int', parseInt64),
  overload('timestamp_to_int64', 'int(timestamp): int', timestampToInt),
  overload('uint64_to_int64', 'int(uint): int', (v: CelUint) => checkedInt(v.value)),
  overload('string_to_string', 'string(string): string', same),
  overload('bool_to_string', 'string(bool): string', (v: boolean) => String(v)),
  overload('bytes_to_string', 'string(bytes): string', decodeUtf8),
  overload('double_to_string', 'string(double): string', (v: CelDouble) => printFloat(v.value)),
  overload('duration_to_string', 'string(duration): string', formatDuration),
  overload('int64_to_string', 'string(int): string', (v: number | bigint) => String(v)),
  overload('timestamp_to_string', 'string(timestamp): string', formatTimestamp),
  overload('uint64_to_string', 'string(uint): string', (v: CelUint) => String(v.value)),
  overload('timestamp_to_timestamp', 'timestamp(timestamp): timestamp', same),
  overload('int64_to_timestamp', 'timestamp(int): timestamp', (v: number | bigint) => intToTimestamp(v)),
  overload('string_to_timestamp', 'timestamp(string): timestamp', toTimestamp),
  overload('uint64_to_uint64', 'uint(uint): uint', same),
  overload('double_to_uint64', 'uint(double): uint', doubleToUint),
  overload('int64_to_uint64', 'uint(int): uint', (v: number | bigint) => checkedUint(BigInt(v))),
  overload('string_to_uint64', 'uint(string): uint', parseUint64),
  overload('type', 'type(A): type<A>', (v: Value) => new TypeValue(typeOfValue(v))),
]

function intToTimestamp(v: number | bigint): Timestamp {
  const seconds = Number(v)
  if (seconds < -62135596800 || seconds > 253402300799) fault('timestamp overflow')
  return new Timestamp(seconds, 0)
}

const sizeOf: readonly Overload[] = [
  ['string', 'string', (v: string) => codePointLength(v)],
  ['bytes', 'bytes', (v: Uint8Array) => v.length],
  ['list', 'list<A>', (v: ListValue) => v.size],
  ['map', 'map<A, B>', (v: MapValue) => v.size],
].flatMap(([id, type, implementation]) => [
  overload(`size_${id}`, `size(${type}): int`, implementation as (v: never) => Value),
  overload(`${id}_size`, `size(this ${type}): int`, implementation as (v: never) => Value),
])

const calendarAccessors: readonly (readonly [string, string, (f: CalendarFields) => number])[] = [
  ['getFullYear', 'year', f => f.year],
  ['getMonth', 'month', f => f.month],
  ['getDayOfYear', 'day_of_year', f => f.dayOfYear],
  ['getDayOfMonth', 'day_of_month', f => f.day - 1],
  ['getDate', 'day_of_month_1_based', f => f.day],
  ['getDayOfWeek', 'day_of_week', f => f.weekday],
  ['getHours', 'hours', f => f.hours],
  ['getMinutes', 'minutes', f => f.minutes],
  ['getSeconds', 'seconds', f => f.seconds],
]

const timeAccessors: readonly Overload[] = [
  ...calendarAccessors.flatMap(([fn, id, field]) => [
    overload(`timestamp_to_${id}`, `${fn}(this timestamp): int`, (t: Timestamp) =>
      field(calendar(t, undefined)),
    ),
    overload(
      `timestamp_to_${id}_with_tz`,
      `${fn}(this timestamp, string): int`,
      (t: Timestamp, zone: string) => field(calendar(t, zone)),
    ),
  ]),
  overload('timestamp_to_milliseconds', 'getMilliseconds(this timestamp): int', (t: Timestamp) =>
    Math.floor(t.nanos / 1e6),
  ),
  overload(
    'timestamp_to_milliseconds_with_tz',
    'getMilliseconds(this timestamp, string): int',
    (t: Timestamp) => Math.floor(t.nanos / 1e6),
  ),
  overload('duration_to_hours', 'getHours(this duration): int', (d: Duration) =>
    durationIn(d, 3_600_000_000_000n),
  ),
  overload('duration_to_minutes', 'getMinutes(this duration): int', (d: Duration) =>
    durationIn(d, 60_000_000_000n),
  ),
  overload('duration_to_seconds', 'getSeconds(this duration): int', (d: Duration) =>
    durationIn(d, 1_000_000_000n),
  ),
  overload('duration_to_milliseconds', 'getMilliseconds(this duration): int', (d: Duration) =>
    durationIn(d, 1_000_000n),
  ),
]

export const standardLibrary: Library = {
  name: 'standard',
  overloads: [
    ...operatorLibrary.overloads,
    ...conversions,
    ...sizeOf,
    ...timeAccessors,
    overload('contains_string', 'contains(this string, string): bool', (a: string, b: string) =>
      a.includes(b),
    ),
    overload('ends_with_string', 'endsWith(this string, string): bool', (a: string, b: string) =>
      a.endsWith(b),
    ),
    overload('starts_with_string', 'startsWith(this string, string): bool', (a: string, b: string) =>
      a.startsWith(b),
    ),
    overload('matches', 'matches(string, string): bool', matches),
    overload('matches_string', 'matches(this string, string): bool', matches),
  ],
}
