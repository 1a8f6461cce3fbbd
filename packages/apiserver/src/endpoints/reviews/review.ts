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
  /** Whose token it is, among those meant for one of the audiences; what speaks against it otherwise. */
  readonly authenticateToken: (
    token: string,
    audiences: readonly string[],
  ) => TokenVerdict | Promise<TokenVerdict>
}

export type TokenVerdict = TokenOwner | { readonly error: string }

/** Who asks what. */
export interface Question {
  readonly user: UserInfo
  readonly question: JsonObject
}

/** Answers a question: what it returns goes to the client. Throws a StatusError when the question makes no sense. */
export type Review = (ports: ReviewPorts, asked: Question) => Promise<JsonObject> | JsonObject
