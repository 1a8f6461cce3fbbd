import type { Library, Overload } from './functions.ts'
import type { MacroOptions } from './macros.ts'
import type { StructTypes } from './struct-types.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  stringType,
  timestampType,
  typeOf,
  typeParam,
  uintType,
} from './types.ts'

/** The functions of one name, members and globals apart. */
export interface FunctionSet {
  readonly global: readonly Overload[]
  readonly member: readonly Overload[]
}

/** What an expression may refer to besides its variables. Immutable; build once and share. */
export interface Environment {
  readonly functions: ReadonlyMap<string, FunctionSet>
  readonly types: ReadonlyMap<string, CelType>
  readonly macros: MacroOptions
  readonly container: string
  /** Literals are validated and constant conversions must succeed, as Kubernetes has it. */
  readonly strictLiterals: boolean
  readonly structs: StructTypes
}

const standardTypes: readonly (readonly [string, CelType])[] = [
  ['bool', boolType],
  ['bytes', bytesType],
  ['double', doubleType],
  ['int', intType],
  ['uint', uintType],
  ['string', stringType],
  ['null_type', nullType],
  ['list', listOf(dynType)],
  ['map', mapOf(dynType, dynType)],
  ['type', typeOf(typeParam('A'))],
  ['google.protobuf.Timestamp', timestampType],
  ['google.protobuf.Duration', durationType],
]

/** Options of {@link createEnvironment}. */
export interface EnvironmentOptions {
  readonly libraries: readonly Library[]
  readonly container?: string
  /** @default false */
  readonly strictLiterals?: boolean
  /** Types that literals such as `Object{...}` make values of. @default none */
  readonly structs?: StructTypes
}

/** Creates the environment that expressions are compiled in: functions, types and their names. */
export function createEnvironment(options: EnvironmentOptions): Environment {
  const functions = new Map<string, { global: Overload[]; member: Overload[] }>()
  const types = new Map(standardTypes)
  const names = new Set<string>()
  for (const library of options.libraries) {
    names.add(library.name)
    for (const type of library.types ?? []) types.set(type.name, type)
    for (const overloaded of library.overloads) {
      let set = functions.get(overloaded.fn)
      if (set === undefined) {
        set = { global: [], member: [] }
        functions.set(overloaded.fn, set)
      }
      const list = overloaded.member ? set.member : set.global
      list.push(overloaded)
    }
  }
  return {
    functions,
    types,
    macros: {
      optionals: names.has('optional'),
      twoVariables: names.has('twovar'),
      bindings: names.has('bindings'),
      math: names.has('math'),
      sortBy: names.has('lists'),
      quotedNames: options.strictLiterals !== true,
    },
    container: options.container ?? '',
    strictLiterals: options.strictLiterals ?? false,
    structs: options.structs ?? (() => undefined),
  }
}

/** The names a reference may stand for, most specific first: `c.d.x`, `c.x`, `x` in container `c.d`. */
export function candidateNames(container: string, name: string): string[] {
  if (name.startsWith('.')) return [name.slice(1)]
  const candidates: string[] = []
  for (
    let prefix = container;
    prefix !== '';
    prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))
  ) {
    candidates.push(`${prefix}.${name}`)
  }
  candidates.push(name)
  return candidates
}

export function findFunction(
  environment: Environment,
  name: string,
): { name: string; set: FunctionSet } | undefined {
  for (const candidate of candidateNames(environment.container, name)) {
    const set = environment.functions.get(candidate)
    if (set !== undefined) return { name: candidate, set }
  }
  return undefined
}
