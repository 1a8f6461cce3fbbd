import { isObject } from '@coxswain/apimachinery/json'
import { parseTime } from '@coxswain/apimachinery/time'
import { decodeBase64Text } from '@coxswain/kit'
import type { UserInfo } from '../request/context.ts'
import { forOwnAudiences, type TokenAuthenticator } from './authenticator.ts'
import { isSameSecret } from './same-secret.ts'

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const secretType = 'bootstrap.kubernetes.io/token'

/** `ID.SECRET` of the Secret `bootstrap-token-ID` in kube-system: authenticates a joining node. */
export const authenticateBootstrapToken: TokenAuthenticator = forOwnAudiences((token, { server }) => {
  const [, id = '', secret = ''] = tokenForm.exec(token) ?? []
  if (id === '') return undefined
  const found = server.objects.find('secrets', 'kube-system', `bootstrap-token-${id}`)
  if (!found || found.deletedAt !== undefined) return undefined
  const { type, data } = found.parse()
  if (type !== secretType) return undefined
  const read = (key: string): string => {
    const value = isObject(data) ? data[key] : undefined
    return (typeof value === 'string' ? decodeBase64Text(value) : undefined) ?? ''
  }
  if (!isSameSecret(read('token-secret'), secret) || read('token-id') !== id) return undefined
  if (hasExpired(read('expiration'), server.clock.now())) return undefined
  if (read('usage-bootstrap-authentication') !== 'true') return undefined
  const user = userOf(id, read('auth-extra-groups'))
  return user && { user }
})

/** An unparsable time counts as expired. */
function hasExpired(text: string, now: number): boolean {
  if (text === '') return false
  try {
    return parseTime(text).milliseconds <= now
  } catch {
    return true
  }
}

/** Undefined when an extra group is not allowed for bootstrap tokens. */
function userOf(id: string, extraGroups: string): UserInfo | undefined {
  const extra = extraGroups === '' ? [] : extraGroups.split(',')
  if (!extra.every(group => groupForm.test(group))) return undefined
  const groups = [...new Set(['system:bootstrappers', ...extra])].sort()
  return { name: `system:bootstrap:${id}`, groups }
}
