import { Quantity } from '@coxswain/apimachinery/quantity'
import { typedVariable, type VariableDeclaration } from './compile-expression.ts'
import { createEnvironment, type Environment } from './environment.ts'
import { bindingsLibrary, kubernetesLibraries } from './kubernetes-environment.ts'
import { QuantityValue, quantityType } from './libraries/quantity.ts'
import { parseSemver } from './libraries/semver.ts'
import type { SchemaType } from './schema-type.ts'
import { jsonValue } from './schema-values.ts'
import { boolType, type CelType, dynType, mapOf, stringType } from './types.ts'
import {
  type Converter,
  fault,
  identity,
  type MapValue,
  type ObjectField,
  ObjectValue,
  RecordMap,
  toInt,
  type Value,
} from './values.ts'

/** What the selectors of dynamic resource allocation see of a device. */
export interface SelectableDevice {
  readonly driver: string
  readonly allowMultipleAllocations?: boolean
  /** By qualified name; a name without a domain is in the driver's. */
  readonly attributes?: Readonly<Record<string, DeviceAttributeValue>>
  readonly capacity?: Readonly<Record<string, { readonly value: string }>>
}

interface DeviceAttributeValue {
  readonly int?: number | bigint
  readonly bool?: boolean
  readonly string?: string
  readonly version?: string
}

const mostEntries = 32

function sized(type: CelType, maxElements: number): SchemaType {
  return { type, convert: jsonValue, maxElements, minSerializedSize: 0 }
}

function mapType(key: SchemaType, element: SchemaType): SchemaType {
  return { ...sized(mapOf(key.type, element.type), mostEntries), key, element }
}

const domain = sized(stringType, 63)
const id = sized(stringType, 32)
const attribute = sized(dynType, 64)

/** An attribute map says of any name how long its value may be. */
const attributes: SchemaType = { ...mapType(id, attribute), member: attribute }

const fields: ReadonlyMap<string, SchemaType> = new Map([
  ['driver', sized(stringType, 63)],
  ['allowMultipleAllocations', sized(boolType, 1)],
  ['attributes', mapType(domain, attributes)],
  ['capacity', mapType(domain, mapType(id, sized(quantityType, 0)))],
])

const deviceType: CelType = {
  kind: 'object',
  name: 'kubernetes.DRADevice',
  params: [],
  fields: name => fields.get(name)?.type,
}

/** `device`, for selectors of device classes and claims: {@link SelectableDevice}s are its values. */
export const deviceVariable: VariableDeclaration = typedVariable({
  type: deviceType,
  convert: raw => toDevice(raw as SelectableDevice),
  maxElements: 0,
  minSerializedSize: 0,
  fields,
})

let environment: Environment | undefined

/** What Kubernetes 1.36 offers to the selectors of devices. */
export function deviceEnvironment(): Environment {
  environment ??= createEnvironment({
    libraries: [...kubernetesLibraries, bindingsLibrary],
    strictLiterals: true,
  })
  return environment
}

function toDevice(device: SelectableDevice): MapValue {
  const { driver, allowMultipleAllocations = false, attributes: named = {}, capacity = {} } = device
  const record: Record<string, Value> = {
    driver,
    allowMultipleAllocations,
    attributes: new Domains(driver, named, toAttribute),
    capacity: new Domains(driver, capacity, raw => {
      return new QuantityValue(Quantity.parse((raw as { value: string }).value))
    }),
  }
  return new ObjectValue(record, properties, deviceType)
}

const properties: ReadonlyMap<string, ObjectField> = new Map(
  [...fields.keys()].map(property => [property, { property, convert: identity }]),
)

const noEntries: MapValue = new RecordMap({}, identity)

/** Maps by domain. A domain that is not there is an empty map, though `in` tells the difference. */
class Domains implements MapValue {
  readonly isMap = true as const
  readonly #domains = new Map<string, MapValue>()

  constructor(driver: string, named: Readonly<Record<string, unknown>>, convert: Converter) {
    const records = new Map<string, Record<string, Value>>()
    for (const [name, raw] of Object.entries(named)) {
      const slash = name.indexOf('/')
      const at = slash === -1 ? driver : name.slice(0, slash)
      const record = records.get(at) ?? (Object.create(null) as Record<string, Value>)
      record[name.slice(slash + 1)] = convertNamed(name, raw, convert)
      records.set(at, record)
    }
    for (const [at, record] of records) this.#domains.set(at, new RecordMap(record, identity))
  }

  get size(): number {
    return this.#domains.size
  }

  get(key: Value): Value {
    return this.#domains.get(key as string) ?? noEntries
  }

  has(key: Value): boolean {
    return this.#domains.has(key as string)
  }

  keys(): Value[] {
    return [...this.#domains.keys()]
  }
}

function convertNamed(name: string, raw: unknown, convert: Converter): Value {
  try {
    return convert(raw)
  } catch (error) {
    return fault(`attribute ${name}: ${(error as { message: string }).message}`)
  }
}

const toAttribute: Converter = raw => {
  const { int, bool, string, version } = raw as DeviceAttributeValue
  if (int !== undefined) return toInt(BigInt(int))
  if (bool !== undefined) return bool
  if (string !== undefined) return string
  if (version === undefined) return fault('unsupported attribute value')
  const parsed = parseSemver(version)
  return typeof parsed === 'string' ? fault(`parse semantic version: ${parsed}`) : parsed
}
