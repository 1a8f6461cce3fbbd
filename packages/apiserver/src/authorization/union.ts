import { joinErrors } from '@coxswain/apimachinery/errors'
import type { UserInfo } from '@coxswain/strategies'
import {
  type Access,
  type AccessRules,
  type Authorizer,
  allow,
  type Decision,
  noOpinion,
} from './authorizer.ts'

const privilegedGroup = 'system:masters'

/** Its members are always allowed, whatever roles and policy files say. */
export const authorizePrivileged: Authorizer = ({ user }) =>
  user.groups.includes(privilegedGroup) ? allow : noOpinion

/** Tries authorizers in order; the first that allows or denies decides. */
export function createUnionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  const authorize = (access: Access): Decision | Promise<Decision> => {
    for (let index = 0; index < authorizers.length; index++) {
      const answer = authorizers[index]!(access)
      // Fast path: most decide synchronously, and the first one decides.
      if (answer instanceof Promise) return collect(access, authorizers, index, answer)
      if (answer.verdict !== 'no opinion') return answer
      if (answer !== noOpinion) return collect(access, authorizers, index, answer)
    }
    return noOpinion
  }
  return Object.assign(authorize, {
    rulesFor: (user: UserInfo, namespace: string) => listRules(authorizers, user, namespace),
    dispose: async () => {
      for (const { dispose } of authorizers) await dispose?.()
    },
  })
}

/** Continues after the authorizer at `index`, whose decision is known. The reasons of those without an opinion are kept. */
function collect(
  access: Access,
  authorizers: readonly Authorizer[],
  index: number,
  first: Decision | Promise<Decision>,
): Decision | Promise<Decision> {
  const reasons: string[] = []
  const errors: string[] = []
  const step = (at: number, answer: Decision | Promise<Decision>): Decision | Promise<Decision> => {
    if (answer instanceof Promise) return answer.then(decision => step(at, decision))
    if (answer.verdict !== 'no opinion') return answer
    if (answer.reason) reasons.push(answer.reason)
    if (answer.error) errors.push(answer.error)
    const next = authorizers[at + 1]
    if (next) return step(at + 1, next(access))
    const reason = reasons.join('\n')
    const error = joinErrors(errors)
    return { verdict: 'no opinion', ...(reason !== '' && { reason }), ...(error !== '' && { error }) }
  }
  return step(index, first)
}

async function listRules(
  authorizers: readonly Authorizer[],
  user: UserInfo,
  namespace: string,
): Promise<AccessRules> {
  const all: AccessRules[] = []
  for (const { rulesFor } of authorizers) if (rulesFor) all.push(await rulesFor(user, namespace))
  const error = joinErrors(all.flatMap(({ evaluationError }) => evaluationError ?? []))
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
    ...(error !== '' && { evaluationError: error }),
  }
}
