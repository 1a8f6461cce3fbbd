import type { AuthorizationCheck, AuthorizationDecision, Authorize } from '@coxswain/cel'
import type { UserInfo } from '../../request/context.ts'
import type { RequestInfo, RequestVerb } from '../../request/request-info.ts'
import type { Attributes } from '../attributes.ts'

const unsure: AuthorizationDecision = { allowed: false, reason: '' }

/**
 * Answers authorizer checks of expressions, which are synchronous, with an authorizer that may not be: a check without a
 * synchronous decision is started, and the expression is evaluated again once it is decided. Each check is made once per request.
 */
export class RequestAuthorizer {
  readonly #attributes: Attributes
  readonly #known = new Map<string, AuthorizationDecision>()
  #pending: Promise<void>[] = []

  constructor(attributes: Attributes) {
    this.#attributes = attributes
  }

  readonly decide: Authorize = check => {
    const key = JSON.stringify(check)
    const known = this.#known.get(key)
    if (known) return known
    const { server, user } = this.#attributes
    const asker = check.serviceAccount ? serviceAccountUser(check.serviceAccount) : user
    const answer = server.authorizer({ user: asker, info: infoOf(check) })
    const note = ({ verdict, reason = '', error }: Awaited<typeof answer>): AuthorizationDecision => {
      const decision = { allowed: verdict === 'allow', reason, ...(error !== undefined && { error }) }
      this.#known.set(key, decision)
      return decision
    }
    if (!(answer instanceof Promise)) return note(answer)
    this.#pending.push(
      answer.then(
        decision => void note(decision),
        error => void note({ verdict: 'no opinion', error: String(error) }),
      ),
    )
    return unsure
  }

  /** Evaluates until every check is decided; synchronous when all are. `evaluation` must have no side effects. */
  run<T>(evaluation: () => T): T | Promise<T> {
    const result = evaluation()
    return this.#pending.length === 0 ? result : this.#runAgain(evaluation)
  }

  async #runAgain<T>(evaluation: () => T): Promise<T> {
    for (;;) {
      const pending = this.#pending
      this.#pending = []
      await Promise.all(pending)
      const result = evaluation()
      if (this.#pending.length === 0) return result
    }
  }
}

function serviceAccountUser({
  namespace,
  name,
}: {
  readonly namespace: string
  readonly name: string
}): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

function infoOf(check: AuthorizationCheck): RequestInfo {
  if (check.path !== undefined) return { isResource: false, verb: check.verb, path: check.path }
  return {
    isResource: true,
    verb: check.verb as RequestVerb,
    group: check.group ?? '',
    version: '*',
    namespace: check.namespace ?? '',
    resource: check.resource ?? '',
    subresource: check.subresource ?? '',
    name: check.name ?? '',
    rest: [],
    legacyWatch: false,
  }
}
