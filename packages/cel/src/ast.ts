import type { CelType } from './types.ts'
import type { Value } from './values.ts'

/** `offset` counts UTF-16 units into the source. `type` and `overloads` are written by the checker. */
interface Node {
  readonly offset: number
  type?: CelType
}

export interface ConstExpr extends Node {
  readonly kind: 'const'
  readonly value: Value
}

export interface IdentExpr extends Node {
  readonly kind: 'ident'
  readonly name: string
}

export interface SelectExpr extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  readonly testOnly: boolean
  /** Set by the checker where the whole chain is one dotted name: the variable or type it denotes. */
  resolvedName?: string
}

export interface CallExpr extends Node {
  readonly kind: 'call'
  readonly fn: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
  /** Set by the checker where `a.b(x)` denotes the namespaced function `a.b`. */
  resolvedFn?: string
  overloads?: readonly string[]
}

export interface ListExpr extends Node {
  readonly kind: 'list'
  readonly elements: readonly Expr[]
  readonly optional: ReadonlySet<number>
}

export interface MapEntryExpr {
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

export interface MapExpr extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntryExpr[]
}

export interface StructExpr extends Node {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly {
    readonly name: string
    readonly value: Expr
    readonly optional: boolean
    readonly offset: number
  }[]
  /** Set by the checker: the full name of the struct type. */
  resolvedName?: string
}

/**
 * A loop over `range`: `accu` starts as `init`; while `condition` holds, each element replaces it by `step`; the value is `result`.
 * With `bind` set the node is cel.bind or optMap: `accu` is the variable, `range` is empty.
 */
export interface ComprehensionExpr extends Node {
  readonly kind: 'comprehension'
  readonly range: Expr
  readonly iterVar: string
  readonly iterVar2: string | undefined
  readonly accuVar: string
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
  readonly bind: boolean
}

export type Expr =
  | ConstExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr
