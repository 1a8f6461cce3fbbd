import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Clock } from '@coxswain/kit'
import type { TokenOwner } from '../../authentication/authenticator.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import type { UserInfo } from '../../request/context.ts'

/** What reviews need of the server. */
export interface ReviewPorts {
  readonly clock: Clock
  readonly authorizer: Authorizer
  /** The audiences of this server. */
  readonly audiences: readonly string[]
  /** Authenticates a token for one of the audiences; otherwise returns the error. */
  readonly authenticateToken: (
    token: string,
    audiences: readonly string[],
  ) => TokenVerdict | Promise<TokenVerdict>
}

export type TokenVerdict = TokenOwner | { readonly error: string }

/** A review and its user. */
export interface Question {
  readonly user: UserInfo
  readonly question: JsonObject
}

/** Answers a review: the result is sent to the client. Throws a StatusError when the review is invalid. */
export type Review = (ports: ReviewPorts, asked: Question) => Promise<JsonObject> | JsonObject
