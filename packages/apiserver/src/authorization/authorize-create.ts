import { newForbidden, newInternalError } from '@coxswain/apimachinery/status'
import type { UserInfo } from '@coxswain/strategies'
import type { ResourceRequestInfo } from '../request/request-info.ts'
import type { Authorizer } from './authorizer.ts'

/**
 * Authorizes a request of another verb that turns out to create something: a connection, or an update or apply of an object that does
 * not exist. @throws StatusError 403
 */
export async function authorizeCreate(
  authorizer: Authorizer,
  { user, info }: { readonly user: UserInfo; readonly info: ResourceRequestInfo },
): Promise<void> {
  const { verdict, reason = '', error } = await authorizer({ user, info: { ...info, verb: 'create' } })
  if (verdict === 'allow') return
  if (error) throw newInternalError(error)
  throw newForbidden({ group: info.group, resource: info.resource }, info.name, reason)
}
