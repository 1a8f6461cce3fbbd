import type { WireRequest } from '@coxswain/wire'
import { getHeader } from '@coxswain/wire'
import type { ServerState, UserInfo } from '../request/context.ts'

/** Whose request it is, `invalid` for a credential that is known to be bad, undefined for nothing that is known. */
export type Authentication = UserInfo | 'invalid' | undefined

/** Says who sent a request; at once where it can, since every request waits for it. */
export type Authenticator = (
  request: WireRequest,
  state: ServerState,
) => Authentication | Promise<Authentication>

export const allAuthenticated = 'system:authenticated'

/** The owner of the client certificate: CN is the name, O are the groups. */
export const authenticateCertificate: Authenticator = ({ peer }) => {
  if (!peer || peer.commonName === '') return undefined
  return {
    name: peer.commonName,
    groups: [...peer.organizations, allAuthenticated],
    ...(peer.uid !== undefined && { uid: peer.uid }),
  }
}

/** Bearer tokens known beforehand. A token that is not among them is invalid, not anonymous. */
export function createTokenAuthenticator(users: ReadonlyMap<string, UserInfo>): Authenticator {
  return request => {
    const header = getHeader(request.headers, 'authorization')
    if (!header) return undefined
    const [scheme = '', token = ''] = header.trim().split(/ +/, 2)
    if (scheme.toLowerCase() !== 'bearer' || token === '') return undefined
    const user = users.get(token)
    return user ? { ...user, groups: [...user.groups, allAuthenticated] } : 'invalid'
  }
}

export const anonymous: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
