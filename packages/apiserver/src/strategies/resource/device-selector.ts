import {
  bindingsLibrary,
  boolType,
  type CelType,
  compileExpression,
  createEnvironment,
  dynType,
  type Environment,
  formatType,
  jsonValue,
  kubernetesLibraries,
  mapOf,
  type SchemaType,
  stringType,
  typedVariable,
  type VariableDeclaration,
} from '@coxswain/cel'

/** The most that a selector may cost, at worst and when it runs. */
export const selectorCostLimit = 1_000_000

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
const quantity = sized({ kind: 'opaque', name: 'kubernetes.Quantity', params: [] }, 0)

/** An attribute map says of any name how long its value may be. */
const attributes: SchemaType = { ...mapType(id, attribute), member: attribute }

const fields: ReadonlyMap<string, SchemaType> = new Map([
  ['driver', sized(stringType, 63)],
  ['allowMultipleAllocations', sized(boolType, 1)],
  ['attributes', mapType(domain, attributes)],
  ['capacity', mapType(domain, mapType(id, quantity))],
])

const device: SchemaType = {
  type: { kind: 'object', name: 'kubernetes.DRADevice', params: [], fields: name => fields.get(name)?.type },
  convert: jsonValue,
  maxElements: 0,
  minSerializedSize: 0,
  fields,
}

const variables: Readonly<Record<string, VariableDeclaration>> = { device: typedVariable(device) }

let environment: Environment | undefined

export type SelectorProblem =
  | { readonly type: 'invalid' | 'internal'; readonly detail: string }
  | { readonly type: 'expensive' }

/** What is wrong with the CEL expression of a device selector. */
export function findSelectorProblem(expression: string): SelectorProblem | undefined {
  environment ??= createEnvironment({
    libraries: [...kubernetesLibraries, bindingsLibrary],
    strictLiterals: true,
  })
  const compiled = compileExpression(expression, { variables, environment })
  if (!compiled.ok) {
    return compiled.stage === 'program'
      ? { type: 'internal', detail: `program instantiation failed: ${compiled.message}` }
      : { type: 'invalid', detail: `compilation failed: ${compiled.message}` }
  }
  if (compiled.type.kind !== 'bool' && compiled.type.kind !== 'dyn') {
    const detail = `must evaluate to bool or the unknown type, not ${formatType(compiled.type)}`
    return { type: 'invalid', detail }
  }
  return compiled.cost.max > selectorCostLimit ? { type: 'expensive' } : undefined
}
