import { newForbidden, newInternalError } from '@coxswain/apimachinery/status'
import { type Authorizer, type Decision, describeRefusal } from '../authorization/authorizer.ts'
import { infoForAuthorization } from '../authorization/selectors.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'
import type { RequestInfo } from '../request/request-info.ts'

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
