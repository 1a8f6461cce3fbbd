import type { Schema } from '@coxswain/apimachinery/schema'
import { Checker } from './checker.ts'
import { ExpressionCompiler } from './compile.ts'
import { ProgramFault } from './compiled.ts'
import type { Environment } from './environment.ts'
import { type Estimate, unknownSize } from './estimate.ts'
import { checkCost, Frame, type Step } from './frame.ts'
import { formatIssues, type Issue, issueAt, mostIssues } from './issues.ts'
import { kubernetesEnvironment } from './kubernetes-environment.ts'
import { SyntaxFaults } from './lexer.ts'
import { costLimits } from './limits.ts'
import { parse } from './parser.ts'
import { type SchemaType, schemaType } from './schema-type.ts'
import { jsonValue } from './schema-values.ts'
import { estimateCost } from './static-cost.ts'
import { type CelType, dynType, optionalOf } from './types.ts'
import { validate } from './validators.ts'
import { EvalFault, noneValue, OptionalValue, type Value } from './values.ts'

/** What a variable is: its type, and how to make a CEL value of what `evaluate` is given. */
export interface VariableDeclaration {
  readonly type: CelType
  readonly convert: (raw: unknown) => Value
  /** Set for variables declared by a schema: bounds for the cost estimate. */
  readonly schema?: SchemaType
}

/** Declares a variable by a structural schema; undefined where CEL cannot see such a value. */
export function schemaVariable(
  schema: Schema,
  options: { readonly isRoot?: boolean } = {},
): VariableDeclaration | undefined {
  const made = schemaType(schema, options.isRoot ?? false)
  return made && typedVariable(made)
}

/** Declares a variable by the type of a schema, or of a part of one. */
export function typedVariable(made: SchemaType): VariableDeclaration {
  return { type: made.type, convert: made.convert, schema: made }
}

/** A variable of any type; its JSON is taken as it stands. */
export const dynVariable: VariableDeclaration = { type: dynType, convert: jsonValue }

/** The optional form of a declaration: undefined and null become optional.none(). */
export function optionalVariable(declaration: VariableDeclaration): VariableDeclaration {
  return {
    type: optionalOf(declaration.type),
    convert: raw => (raw === null ? noneValue : new OptionalValue(declaration.convert(raw))),
  }
}

/** Options of {@link compileExpression}. */
export interface CompileOptions {
  readonly variables?: Readonly<Record<string, VariableDeclaration>>
  /** @default what Kubernetes 1.36 offers */
  readonly environment?: Environment
  /** False leaves out the type checker: everything is dynamic. @default true */
  readonly check?: boolean
}

/** The result of an evaluation and what it cost. */
export type Evaluation =
  | { readonly ok: true; readonly value: Value; readonly cost: number }
  | { readonly ok: false; readonly error: string; readonly cost: number; readonly costExceeded: boolean }

/** A compiled expression. */
export interface Program {
  readonly type: CelType
  /** The variables the expression reads. */
  readonly reads: readonly string[]
  /** `values` are raw: plain JSON where the variable was declared by a schema. */
  evaluate(values: Readonly<Record<string, unknown>>, options?: { readonly costLimit?: number }): Evaluation
}

/** A program, or the issues that prevent one. */
export type Compilation =
  | {
      readonly ok: true
      readonly program: Program
      readonly type: CelType
      /** The static estimate; `max` is 2^64 where nothing bounds it. */
      readonly cost: Estimate
    }
  | {
      readonly ok: false
      /** `program`: the expression is well-typed, but one of its constants cannot be computed. */
      readonly stage: 'compilation' | 'program'
      readonly issues: readonly Issue[]
      /** All issues as cel-go displays them; for a program the one message. */
      readonly message: string
    }

/** Parses, checks and compiles an expression. Problems of the expression are returned, not thrown. */
export function compileExpression(source: string, options: CompileOptions = {}): Compilation {
  const environment = options.environment ?? kubernetesEnvironment()
  const variables = options.variables ?? {}
  const fail = (problems: readonly { readonly offset: number; readonly message: string }[]): Compilation => {
    const issues = problems
      .slice(0, mostIssues)
      .map(({ offset, message }) => issueAt(source, offset, message))
    const message = formatIssues(source, issues, problems.length)
    return { ok: false, stage: 'compilation', issues, message }
  }
  try {
    const expr = parse(source, environment.macros)
    const names = Object.keys(variables)
    const types = new Map(names.map(n => [n, (variables[n] as VariableDeclaration).type]))
    const checker = new Checker(environment, types)
    if (options.check !== false) {
      checker.check(expr)
      const isSound = checker.problems.length === 0
      const problems = isSound && environment.strictLiterals ? validate(expr) : checker.problems
      if (problems.length > 0) return fail(problems)
    }
    const type = expr.type ?? { kind: 'dyn', name: 'dyn', params: [] }
    const compiler = new ExpressionCompiler(environment, new Set(names))
    const { step } = compiler.compile(expr)
    const cost = options.check === false ? unknownSize : estimateCost(expr, schemaRoots(variables))
    return { ok: true, program: createProgram(step, type, compiler, variables), type, cost }
  } catch (error) {
    if (error instanceof ProgramFault)
      return { ok: false, stage: 'program', issues: [], message: error.message }
    if (error instanceof SyntaxFaults) return fail(error.faults)
    throw error
  }
}

function schemaRoots(
  variables: Readonly<Record<string, VariableDeclaration>>,
): ReadonlyMap<string, SchemaType> {
  const roots = new Map<string, SchemaType>()
  for (const [name, { schema }] of Object.entries(variables))
    if (schema !== undefined) roots.set(name, schema)
  return roots
}

function createProgram(
  step: Step,
  type: CelType,
  compiler: ExpressionCompiler,
  variables: Readonly<Record<string, VariableDeclaration>>,
): Program {
  const reads = [...compiler.used].map(([name, slot]) => ({
    name,
    slot,
    convert: (variables[name] as VariableDeclaration).convert,
  }))
  const size = compiler.slots
  return {
    type,
    reads: reads.map(r => r.name),
    evaluate(values, options = {}) {
      const slots = new Array<Value | undefined>(size).fill(undefined)
      const frame = new Frame(slots, options.costLimit ?? costLimits.perCall)
      try {
        for (let i = 0; i < reads.length; i++) {
          const { name, slot, convert } = reads[i] as (typeof reads)[number]
          const raw = values[name]
          if (raw !== undefined) slots[slot] = convert(raw)
        }
        const value = step(frame)
        checkCost(frame)
        return { ok: true, value, cost: frame.cost }
      } catch (error) {
        if (!(error instanceof EvalFault)) throw error
        return { ok: false, error: error.message, cost: frame.cost, costExceeded: error.cancelled }
      }
    },
  }
}
