import type { StatusError } from '@coxswain/apimachinery/status'
import { BoundedMap } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import {
  type ImpersonatedUser,
  isImpersonationHeader,
  readImpersonatedUser,
} from '../authentication/impersonation/impersonated-user.ts'
import { type Mode, modes } from '../authentication/impersonation/modes.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { infoForAuthorization } from '../authorization/selectors.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter, Next } from '../request/filter.ts'
import { withoutHeaders } from '../request/without-headers.ts'

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
