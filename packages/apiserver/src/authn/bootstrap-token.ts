import { parseTime } from '@coxswain/apimachinery'
import { isObject } from '../json.ts'
import type { UserInfo } from '../request/context.ts'
import { forOwnAudiences, type TokenAuthenticator } from './authenticator.ts'
import { decodeBase64 } from './jwt/base64.ts'
import { isSameSecret } from './same-secret.ts'
import { findBoundObject } from './service-account/bound-objects.ts'

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const secretType = 'bootstrap.kubernetes.io/token'

/** `ID.SECRET` of a secret `bootstrap-token-ID` in kube-system: what a new node proves itself with. */
export const authenticateBootstrapToken: TokenAuthenticator = forOwnAudiences((token, { state }) => {
  const [, id = '', secret = ''] = tokenForm.exec(token) ?? []
  if (id === '') return undefined
  const found = findBoundObject(state, 'secrets', 'kube-system', `bootstrap-token-${id}`)
  if (!found || found.deletedAt !== undefined) return undefined
  const { type, data } = found.parse()
  if (type !== secretType) return undefined
  const read = (key: string): string => {
    const value = isObject(data) ? data[key] : undefined
    const bytes = typeof value === 'string' ? decodeBase64(value) : undefined
    return bytes ? Array.from(bytes, byte => String.fromCharCode(byte)).join('') : ''
  }
  if (!isSameSecret(read('token-secret'), secret) || read('token-id') !== id) return undefined
  if (hasExpired(read('expiration'), state.env.clock.now())) return undefined
  if (read('usage-bootstrap-authentication') !== 'true') return undefined
  const user = userOf(id, read('auth-extra-groups'))
  return user && { user }
})

/** A time that cannot be read has passed. */
function hasExpired(text: string, now: number): boolean {
  if (text === '') return false
  try {
    return parseTime(text).milliseconds <= now
  } catch {
    return true
  }
}

/** Undefined when one of the extra groups is none that a bootstrap token may claim. */
function userOf(id: string, extraGroups: string): UserInfo | undefined {
  const extra = extraGroups === '' ? [] : extraGroups.split(',')
  if (!extra.every(group => groupForm.test(group))) return undefined
  const groups = [...new Set(['system:bootstrappers', ...extra])].sort()
  return { name: `system:bootstrap:${id}`, groups }
}
