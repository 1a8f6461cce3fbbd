import type { Reference } from './claims.ts'

/** The service account of a valid token. */
export interface TokenSubject {
  readonly namespace: string
  readonly account: Reference
  readonly pod?: Reference
  readonly node?: Reference
  readonly id?: string
}

/** The service account of a token, or why the token is invalid. */
export type CheckResult = TokenSubject | { readonly error: string }
