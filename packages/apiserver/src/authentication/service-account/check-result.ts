import type { Reference } from './claims.ts'

/** The account that a good token stands for. */
export interface TokenSubject {
  readonly namespace: string
  readonly account: Reference
  readonly pod?: Reference
  readonly node?: Reference
  readonly id?: string
}

/** What is known of a token, or why it is no good. */
export type CheckResult = TokenSubject | { readonly error: string }
