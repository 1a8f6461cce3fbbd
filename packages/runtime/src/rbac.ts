import type { Verb } from '@coxswain/apimachinery/kinds'

/** A verb of an RBAC rule. */
export type RbacVerb = Verb | 'approve' | 'bind' | 'escalate' | 'impersonate' | 'sign' | 'use' | '*'

/** A resource, such as a kind (`Pod`, `At.v1`), or paths outside the API, such as `/metrics`. */
export type RbacTarget =
  | { readonly group: string; readonly resource: string }
  | { readonly urls: readonly string[] }

/** Restricts a rule. */
export interface RbacOptions {
  /** `status`, `scale`, `exec`: the rule is for the subresource instead of the object. */
  readonly subresource?: string
  /** Only the objects of these names. It cannot restrict `create`, `list` and `watch` of a collection. */
  readonly names?: readonly string[]
  /** Only in this namespace: the rule is part of a Role. @default every namespace that the operator watches */
  readonly namespace?: string
}

/** What an operator may do, as data. */
export interface RbacRule {
  readonly target: RbacTarget
  readonly verbs: readonly RbacVerb[]
  readonly options: RbacOptions
}
