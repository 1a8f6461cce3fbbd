import {
  newForbidden,
  newInternalError,
  newUnauthorized,
  type StatusError,
} from '@coxswain/apimachinery/status'
import { BoundedMap } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import { authenticateToken, type ResolvedAuthentication } from '../authentication/authentication.ts'
import { type Authentication, anonymous, withAuthenticatedGroup } from '../authentication/authenticator.ts'
import { findBearerToken } from '../authentication/bearer-token.ts'
import {
  type ImpersonatedUser,
  isImpersonationHeader,
  readImpersonatedUser,
} from '../authentication/impersonation/impersonated-user.ts'
import { type Mode, modes } from '../authentication/impersonation/modes.ts'
import { type Authorizer, type Decision, describeRefusal } from '../authorization/authorizer.ts'
import { infoForAuthorization } from '../authorization/selectors.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { Answer, Filter, Next } from '../request/filter.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { withoutHeaders } from '../request/without-headers.ts'

/**
 * Authenticates a request: by the connection, then by the bearer token. An invalid credential is ignored where another one
 * is valid, and is a 401 where none is; a request without credentials is anonymous. Headers with credentials are removed
 * here.
 */
export function createAuthenticate(authentication: ResolvedAuthentication): Filter {
  const { authenticators, isAnonymousAllowed, isCredential, audiences } = authentication
  const { clock } = authentication.server
  const [authenticateFirst] = authenticators

  /** `first` is the answer of the first authenticator. */
  async function find(
    context: RequestContext,
    next: Next,
    first: Authentication | Promise<Authentication>,
  ): Promise<WireResponse> {
    const { request } = context
    // A client with an untrusted certificate is not anonymous.
    let isRejected = request.peerError !== undefined
    for (let i = 0; i < authenticators.length; i++) {
      const answer = i === 0 ? first : authenticators[i]!(request, clock)
      const user = answer instanceof Promise ? await answer : answer
      if (user === 'invalid') isRejected = true
      else if (user) return await continueAs(context, next, user)
    }
    const bearer = findBearerToken(request)
    if (bearer !== undefined) {
      const owner = await ownerOf(context, bearer)
      if (owner) return await continueAs(context, next, owner)
      isRejected = true
    }
    context.request = withoutHeaders(request, isCredential)
    if (isRejected || !isAnonymousAllowed(request.path)) throw newUnauthorized('Unauthorized')
    context.user = anonymous
    return await next(context)
  }

  function continueAs(context: RequestContext, next: Next, user: UserInfo): Answer {
    context.request = withoutHeaders(context.request, isCredential)
    context.user = withAuthenticatedGroup(user)
    return next(context)
  }

  async function ownerOf(context: RequestContext, token: string): Promise<UserInfo | undefined> {
    const { env, warnings, auditAnnotations: annotations } = context
    const answer = authenticateToken(authentication, token, { audiences, warnings, annotations })
    const owner = answer instanceof Promise ? await answer : answer
    if ('user' in owner) return owner.user
    // Errors say what is wrong with a token and never contain it.
    env.log.debug('unable to authenticate the request', { error: owner.error })
    return undefined
  }

  return (context, next) => {
    // Most connections are authenticated synchronously, by their client certificate.
    const user = authenticateFirst?.(context.request, clock)
    if (user && user !== 'invalid' && !(user instanceof Promise)) return continueAs(context, next, user)
    return find(context, next, user)
  }
}

/** How many impersonators are cached with the mode that allowed them. */
const rememberedUsers = 5_000
const longestRemembered = 256

/**
 * Handles the `Impersonate-*` headers: the request continues as the impersonated user when its sender may impersonate them,
 * and is rejected with a 403 otherwise. Later filters only see it in `context.impersonation`.
 */
export function createImpersonate(authorizer: Authorizer): Filter {
  /** By the impersonator's name. The cache only decides which mode is tried first. */
  const lastMode = new BoundedMap<string, Mode>(rememberedUsers)

  return (context, next) => {
    const wanted = readImpersonatedUser(context.request.headers)
    return wanted ? continueAs(context, wanted, next) : next(context)
  }

  async function continueAs(
    context: RequestContext,
    wanted: ImpersonatedUser,
    next: Next,
  ): Promise<WireResponse> {
    context.request = withoutHeaders(context.request, isImpersonationHeader)
    const { user: requester } = context
    const info = infoForAuthorization(context)
    let refusal: StatusError | undefined
    const first = lastMode.get(requester.name)
    const order = first ? [first, ...modes.filter(mode => mode !== first)] : modes
    for (const mode of order) {
      const answer = await mode(wanted, { authorizer, user: requester, info })
      if (!answer) continue
      if ('user' in answer) {
        if (requester.name.length <= longestRemembered) lastMode.set(requester.name, mode)
        context.user = answer.user
        context.impersonation = { requester, constraint: answer.constraint }
        return await next(context)
      }
      refusal ??= answer
    }
    throw refusal ?? new Error('all impersonation modes failed')
  }
}

const decisionAnnotation = 'authorization.k8s.io/decision'
const reasonAnnotation = 'authorization.k8s.io/reason'

/** Rejects requests that are not allowed. The decision and its reason are recorded for the audit log. */
export function createAuthorize(authorize: Authorizer): Filter {
  const check = (context: RequestContext, info: RequestInfo, decision: Decision) => {
    if (decision.verdict !== 'allow') throw refuse(context, info, decision)
    const { auditAnnotations } = context
    auditAnnotations.set(decisionAnnotation, 'allow')
    auditAnnotations.set(reasonAnnotation, decision.reason ?? '')
  }
  return (context, next) => {
    const info = infoForAuthorization(context)
    const answer = authorize(info === context.info ? context : { user: context.user, info })
    if (answer instanceof Promise) {
      return answer.then(decision => {
        check(context, info, decision)
        return next(context)
      })
    }
    check(context, info, answer)
    return next(context)
  }
}

/** An authorizer that failed might have allowed the request: an internal error, not a 403. */
function refuse({ user, auditAnnotations }: RequestContext, info: RequestInfo, decision: Decision): Error {
  const { error, reason = '' } = decision
  if (error) {
    auditAnnotations.set(reasonAnnotation, 'internal error')
    return newInternalError(error)
  }
  auditAnnotations.set(decisionAnnotation, 'forbid')
  auditAnnotations.set(reasonAnnotation, reason)
  const resource = info.isResource
    ? { group: info.group, resource: info.resource }
    : { group: '', resource: '' }
  return newForbidden(resource, info.isResource ? info.name : '', describeRefusal(user, info, reason))
}
