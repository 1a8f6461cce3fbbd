import {
  authorizerType,
  boolType,
  type CelType,
  compileExpression,
  createEnvironment,
  dynVariable,
  type Environment,
  formatType,
  jsonPatchLibrary,
  jsonValue,
  kubernetesEnvironment,
  kubernetesLibraries,
  mutationTypes,
  type Program,
  type Value,
  type VariableDeclaration,
} from '@coxswain/cel'
import { namespaceType, requestType, resourceCheckType, variablesType, visibleType } from './types.ts'

/** What an expression of an admission object may use besides `object`, `oldObject`, `request` and `namespaceObject`. */
export interface ExpressionOptions {
  /** @default false */
  readonly params?: boolean
  /** @default false */
  readonly authorizer?: boolean
  /** Literals of `Object` and `JSONPatch`, for mutations. @default false */
  readonly patchTypes?: boolean
  /** The `variables` of a policy. @default there are none */
  readonly variables?: PolicyVariables
  /** Types other than any for `object`, `oldObject` and `params`. */
  readonly types?: Readonly<Record<string, VariableDeclaration>>
}

/** A compiled expression of a policy or webhook, or why there is none. */
export type CompiledExpression =
  | { readonly ok: true; readonly source: string; readonly program: Program; readonly type: CelType }
  | {
      readonly ok: false
      readonly source: string
      /** The text of upstream: `compilation failed: ...`, `must evaluate to bool but got int`. */
      readonly error: string
      /** The messages of the compiler with their positions, if compilation failed. */
      readonly issues: string | undefined
    }

/** The variables of a policy, compiled one after the other: each may use those before it. */
export class PolicyVariables {
  readonly #types = new Map<string, CelType>()
  readonly #compiled = new Map<string, CompiledExpression>()

  get type(): CelType {
    return variablesType(this.#types)
  }

  get compiled(): ReadonlyMap<string, CompiledExpression> {
    return this.#compiled
  }

  add(name: string, source: string, options: Omit<ExpressionOptions, 'variables'>): CompiledExpression {
    const compiled = compileAdmissionExpression(source, 'any', { ...options, variables: this })
    this.#types.set(name, visibleType(compiled.ok ? compiled.type : dynVariable.type))
    this.#compiled.set(name, compiled)
    return compiled
  }
}

/** The type that an expression must evaluate to: its name in error texts, and a test. */
export interface ReturnType {
  readonly name: string
  readonly accepts: (type: CelType) => boolean
}

const exactly = (wanted: CelType): ReturnType => ({
  name: formatType(wanted),
  accepts: type => formatType(type) === formatType(wanted),
})

const applyConfiguration: CelType = { kind: 'object', name: 'Object', params: [] }
const jsonPatch: CelType = {
  kind: 'list',
  name: 'list',
  params: [{ kind: 'object', name: 'JSONPatch', params: [] }],
}

/** The result types by the use of an expression. */
export type Returns = 'any' | 'applyConfiguration' | 'bool' | 'jsonPatch' | 'string' | 'stringOrNull'

const returnTypes: Readonly<Record<Returns, ReturnType>> = {
  any: { name: 'any', accepts: () => true },
  bool: exactly(boolType),
  string: { name: 'string', accepts: (type: CelType) => type.kind === 'string' },
  stringOrNull: {
    name: 'one of [string null_type]',
    accepts: (type: CelType) => type.kind === 'string' || type.kind === 'null',
  },
  applyConfiguration: exactly(applyConfiguration),
  jsonPatch: exactly(jsonPatch),
}

const asIs = (raw: unknown): Value => raw as Value

const always: Readonly<Record<string, VariableDeclaration>> = {
  object: dynVariable,
  oldObject: dynVariable,
  request: { type: requestType, convert: jsonValue },
  namespaceObject: { type: namespaceType, convert: jsonValue },
}

const authorizers: Readonly<Record<string, VariableDeclaration>> = {
  authorizer: { type: authorizerType, convert: asIs },
  'authorizer.requestResource': { type: resourceCheckType, convert: asIs },
}

let patchEnvironment: Environment | undefined

function environmentFor({ patchTypes = false }: ExpressionOptions): Environment {
  if (!patchTypes) return kubernetesEnvironment()
  patchEnvironment ??= createEnvironment({
    libraries: [...kubernetesLibraries, jsonPatchLibrary],
    strictLiterals: true,
    structs: mutationTypes,
  })
  return patchEnvironment
}

/** Compiles an expression of a match condition, a validation, a mutation, and so on. */
export function compileAdmissionExpression(
  source: string,
  returns: Returns,
  options: ExpressionOptions,
): CompiledExpression {
  const { params = false, authorizer = false, variables, types } = options
  const made = compileExpression(source, {
    environment: environmentFor(options),
    variables: {
      ...always,
      ...(params && { params: dynVariable }),
      ...(authorizer && authorizers),
      ...(variables && { variables: { type: variables.type, convert: asIs } }),
      ...types,
    },
  })
  if (!made.ok) {
    const stage = made.stage === 'compilation' ? 'compilation failed' : 'program instantiation failed'
    return { ok: false, source, error: `${stage}: ${made.message}`, issues: made.message }
  }
  const wanted: ReturnType = returnTypes[returns]
  if (wanted.accepts(made.type)) return { ok: true, source, program: made.program, type: made.type }
  const error = `must evaluate to ${wanted.name} but got ${formatType(made.type)}`
  return { ok: false, source, error, issues: undefined }
}
