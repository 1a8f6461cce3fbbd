import type { JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { intersect, withAuthenticatedGroup } from '../../authentication/authenticator.ts'
import type { UserInfo } from '../../request/context.ts'
import type { Review } from './review.ts'

/** SelfSubjectReview: who am I? */
export const reviewSelf: Review = ({ clock }, { user, question }) => ({
  kind: question.kind,
  apiVersion: question.apiVersion,
  metadata: { creationTimestamp: formatTime(clock.now()) },
  status: { userInfo: printUser(user) },
})

/** TokenReview: whose token is this, and is it for this audience? */
export const reviewToken: Review = async (ports, { question }) => {
  const { token, audiences = [] } = (question.spec ?? {}) as { token?: string; audiences?: readonly string[] }
  if (!token) throw newBadRequest('token is required for TokenReview in authentication')
  const asked = audiences.length > 0 ? audiences : ports.audiences
  const owner = await ports.authenticateToken(token, asked)
  if ('error' in owner) return { ...question, status: { user: {}, error: owner.error } }
  if (asked.length > 0 && intersect(asked, owner.audiences).length === 0) {
    throw new Error('error validating audiences')
  }
  const status = {
    authenticated: true,
    user: printUser(withAuthenticatedGroup(owner.user)),
    ...(owner.audiences.length > 0 && { audiences: owner.audiences }),
  }
  return { ...question, status }
}

function printUser({ name, uid, groups, extra = {} }: UserInfo): JsonObject {
  return {
    ...(name !== '' && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}
