import { newBadRequest } from '@coxswain/apimachinery'
import type { JsonObject } from '../../json.ts'
import type { UserInfo } from '../../request/context.ts'
import { formatTime } from '../lifecycle.ts'
import type { Review } from './index.ts'

/** Who am I? */
export const reviewSelf: Review = ({ state, user }, { kind, apiVersion }) => ({
  kind,
  apiVersion,
  metadata: { creationTimestamp: formatTime(state.env.clock.now()) },
  status: { userInfo: printUser(user) },
})

/** Whose token is this? Asks whoever authenticates requests, with a request that has nothing but the token. */
export const reviewToken: Review = async ({ state, request }, question) => {
  const { token } = (question.spec ?? {}) as { token?: string }
  if (!token) throw newBadRequest('token is required for TokenReview in authentication')
  const probe = {
    method: 'GET',
    path: '/',
    query: '',
    headers: { authorization: `Bearer ${token}` },
    signal: request.signal,
  }
  for (const authenticate of state.authenticators) {
    const user = await authenticate(probe, state)
    if (user === 'invalid') break
    if (user) return { ...question, status: { authenticated: true, user: printUser(user) } }
  }
  return { ...question, status: { user: {}, error: 'invalid bearer token' } }
}

function printUser({ name, uid, groups, extra = {} }: UserInfo): JsonObject {
  return {
    ...(name !== '' && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}
