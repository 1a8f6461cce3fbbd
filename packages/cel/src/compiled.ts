import type { Expr, IdentExpr, SelectExpr } from './ast.ts'
import type { Environment } from './environment.ts'
import type { Step } from './frame.ts'
import { fault, type MapKey, normalizeKey, type Value } from './values.ts'

/** A constant part of the expression that cannot be computed. */
export class ProgramFault {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** A step with what its users may exploit: a value known beforehand. */
export interface Compiled {
  readonly step: Step
  readonly constant?: { readonly value: Value }
}

export interface Local {
  readonly slot: number
  /** Bound by cel.bind: computed when first read. */
  readonly lazy?: Step
}

/** What the parts of the compiler use of the whole. */
export interface Compiler {
  readonly environment: Environment
  /** The slot of each variable the expression reads. */
  readonly used: Map<string, number>
  slots: number
  compile(expr: Expr): Compiled
  step(expr: Expr): Step
  local(name: string): Local | undefined
  withLocals<T>(locals: readonly (readonly [string, Local])[], body: () => T): T
  resolve(expr: IdentExpr | SelectExpr): { slot: number; name: string } | { type: Value } | undefined
}

export function constant(value: Value): Compiled {
  return { step: () => value, constant: { value } }
}

/** Keys may be strings, booleans and integers of both kinds. */
export function mapKey(key: Value): MapKey {
  const isDouble = typeof key === 'object' && key !== null && 'value' in key && typeof key.value === 'number'
  const normal = isDouble ? undefined : normalizeKey(key)
  return normal ?? fault('unsupported key type')
}
