import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { VariableDeclaration } from '../compile-expression.ts'
import { createEnvironment, type Environment } from '../environment.ts'
import { type Library, type Overload, overload } from '../functions.ts'
import { bindingsLibrary, kubernetesLibraries } from '../kubernetes-environment.ts'
import { encodersLibrary } from '../libraries/encoders.ts'
import { mathLibrary } from '../libraries/math.ts'
import { currentStringsLibrary } from '../libraries/strings.ts'
import { parseDuration, parseTimestamp } from '../time.ts'
import * as t from '../types.ts'
import {
  CelDouble,
  CelUint,
  EntryMap,
  identity,
  ListValue,
  type MapKey,
  noneValue,
  normalizeKey,
  TypeValue,
  toInt,
  type Value,
} from '../values.ts'

/** A test of cel-spec in its JSON form. */
export interface ConformanceCase {
  readonly suite: string
  readonly section: string
  readonly name: string
  readonly expr: string
  readonly type?: string
  readonly disableCheck?: boolean
  readonly checkOnly?: boolean
  readonly container?: string
  readonly typeEnv?: readonly Json[]
  readonly bindings?: Readonly<Record<string, Json>>
  readonly value?: Json
  readonly typedResult?: Json
  readonly evalError?: Json
}

type Json = { readonly [key: string]: unknown }

export function loadCases(): readonly ConformanceCase[] {
  const file = new URL('../../fixtures/conformance.json.gz', import.meta.url)
  return JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as ConformanceCase[]
}

/** Protocol buffer messages, enums and wrappers, which Kubernetes has none of, and the internal cel.block. */
const excludedSuites: ReadonlySet<string> = new Set([
  'proto2',
  'proto3',
  'proto2_ext',
  'enums',
  'dynamic',
  'wrappers',
  'block_ext',
])
const messages =
  /TestAllTypes|NestedTestAllTypes|google\.protobuf\.(?!Timestamp|Duration)|GlobalEnum|messageType":"cel|objectValue|"wrapper"|struct_field_names|wrapper\(/

export function isApplicable(test: ConformanceCase): boolean {
  if (excludedSuites.has(test.suite) || test.section === 'eq_wrapper' || test.section === 'wrappers')
    return false
  if (test.section === 'struct_field_names') return false
  return !messages.test(JSON.stringify(test))
}

export function toValue(json: Json): Value {
  const [[kind, raw] = ['nullValue', null]] = Object.entries(json)
  switch (kind) {
    case 'nullValue':
      return null
    case 'boolValue':
    case 'stringValue':
      return raw as Value
    case 'int64Value':
      return toInt(BigInt(raw as string))
    case 'uint64Value':
      return new CelUint(BigInt(raw as string))
    case 'doubleValue':
      return new CelDouble(Number(raw))
    case 'bytesValue':
      return Uint8Array.from(Buffer.from(raw as string, 'base64'))
    case 'typeValue':
      return new TypeValue({ kind: 'dyn', name: raw as string, params: [] })
    case 'listValue':
      return new ListValue((((raw as Json).values as Json[] | undefined) ?? []).map(toValue))
    case 'mapValue':
      return toMap(((raw as Json).entries as { key: Json; value: Json }[] | undefined) ?? [])
    default:
      throw new Error(`unknown value ${JSON.stringify(json)}`)
  }
}

function toMap(entries: readonly { key: Json; value: Json }[]): Value {
  const map = new Map<MapKey, readonly [Value, Value]>()
  for (const { key, value } of entries) {
    const k = toValue(key)
    map.set(normalizeKey(k) as MapKey, [k, toValue(value)])
  }
  return new EntryMap(map)
}

export function toType(json: Json): t.CelType {
  const [[kind, raw] = ['dyn', null]] = Object.entries(json)
  const body = raw as Json
  switch (kind) {
    case 'primitive':
      return {
        BOOL: t.boolType,
        INT64: t.intType,
        UINT64: t.uintType,
        DOUBLE: t.doubleType,
        STRING: t.stringType,
        BYTES: t.bytesType,
      }[raw as 'BOOL']
    case 'null':
      return t.nullType
    case 'wellKnown':
      return raw === 'TIMESTAMP' ? t.timestampType : raw === 'DURATION' ? t.durationType : t.dynType
    case 'listType':
      return t.listOf(body.elemType === undefined ? t.dynType : toType(body.elemType as Json))
    case 'mapType':
      return t.mapOf(toType((body.keyType ?? {}) as Json), toType((body.valueType ?? {}) as Json))
    case 'type':
      return t.typeOf(toType(body))
    case 'typeParam':
      return t.typeParam(raw as string)
    case 'abstractType':
      return t.opaqueOf(
        body.name as string,
        ...((body.parameterTypes as Json[] | undefined) ?? []).map(toType),
      )
    default:
      return t.dynType
  }
}

interface Declarations {
  readonly environment: Environment
  readonly variables: Record<string, VariableDeclaration>
}

export function declarations(test: ConformanceCase): Declarations {
  const variables: Record<string, VariableDeclaration> = {}
  const functions: Overload[] = []
  for (const declared of test.typeEnv ?? []) {
    const name = declared.name as string
    const ident = declared.ident as { type: Json } | undefined
    if (ident !== undefined) variables[name] = { type: toType(ident.type), convert: identity }
    const fn = declared.function as { overloads: Json[] } | undefined
    for (const o of fn?.overloads ?? []) functions.push(declareFunction(name, o))
  }
  for (const name of Object.keys(test.bindings ?? {}))
    variables[name] ??= { type: t.dynType, convert: identity }
  const own: Library = { name: 'declared', overloads: functions }
  const kubernetes = kubernetesLibraries.filter(l => l.name !== 'strings')
  const libraries = [...kubernetes, currentStringsLibrary, bindingsLibrary, mathLibrary, encodersLibrary, own]
  return { environment: createEnvironment({ libraries, container: test.container ?? '' }), variables }
}

function declareFunction(name: string, o: Json): Overload {
  const made = overload(o.overloadId as string, `${name}(): dyn`, () => null)
  const args = ((o.params as Json[] | undefined) ?? []).map(toType)
  return {
    ...made,
    generic: true,
    args,
    member: o.isInstanceFunction === true,
    result: toType((o.resultType ?? {}) as Json),
  }
}

export function bindingsOf(test: ConformanceCase): Record<string, Value> {
  const entries = Object.entries(test.bindings ?? {}).map(([name, bound]) => [
    name,
    bindingValue((bound.value ?? {}) as Json),
  ])
  return Object.fromEntries(entries) as Record<string, Value>
}

function bindingValue(json: Json): Value {
  const object = json.objectValue as Json | undefined
  if (object === undefined) return toValue(json)
  const text = object.value as string
  return parseTimestamp(text) ?? parseDuration(text) ?? noneValue
}
