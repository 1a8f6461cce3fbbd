/**
 * The operations of an API as both versions of OpenAPI tell them. What is common to the two documents is decided here and
 * in `routes.ts`; `v2.ts` and `v3.ts` only write it down.
 */
export interface PathItem {
  readonly path: string
  readonly operations: readonly Operation[]
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface Operation {
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly consumes?: readonly string[]
  readonly produces: readonly string[]
  /** Without the body, sorted by name. */
  readonly parameters: readonly Parameter[]
  readonly body?: { readonly type: string; readonly required: boolean }
  /** The full name of a type for each code, `string` for plain text; 401 is in every operation. */
  readonly responses: Readonly<Record<string, string>>
  /** `x-kubernetes-action` */
  readonly action?: string
  /** `x-kubernetes-group-version-kind` */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string }
}

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'boolean' | 'integer'
  /** What upstream's v2 document names it by, where it is shared between operations: a hash over upstream's text. */
  readonly shared?: string
}

/** A path's parameters that all of its operations have, and what is left to each. */
export function splitParameters(item: PathItem): {
  readonly common: readonly Parameter[]
  readonly own: (operation: Operation) => readonly Parameter[]
} {
  const [first, ...others] = item.operations
  const isIn = (operation: Operation, parameter: Parameter): boolean =>
    operation.parameters.some(candidate => candidate === parameter)
  const common = (first?.parameters ?? []).filter(parameter =>
    others.every(operation => isIn(operation, parameter)),
  )
  return {
    common,
    own: operation => operation.parameters.filter(parameter => !common.includes(parameter)),
  }
}
