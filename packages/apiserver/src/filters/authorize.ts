import { newForbidden } from '@coxswain/apimachinery'
import { type Authorizer, describeRefusal } from '../authz/authorizer.ts'
import type { Filter } from './filter.ts'

export function createAuthorize(authorize: Authorizer): Filter {
  return async (context, next) => {
    const answer = authorize(context)
    const { verdict, reason } = answer instanceof Promise ? await answer : answer
    if (verdict === 'allow') return await next(context)
    const { info } = context
    const resource = info.isResource
      ? { group: info.group, resource: info.resource }
      : { group: '', resource: '' }
    throw newForbidden(
      resource,
      info.isResource ? info.name : '',
      describeRefusal(context.user, info, reason),
    )
  }
}
