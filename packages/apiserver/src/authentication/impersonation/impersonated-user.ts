import { newBadRequest } from '@coxswain/apimachinery/status'
import { getHeader, getHeaderValues, type WireHeaders } from '@coxswain/wire'
import type { UserInfo } from '../../request/context.ts'
import { headerText, unescapeHeaderKey } from '../header-text.ts'

/** The user that a request asks to impersonate, exactly as in the headers. */
export interface ImpersonatedUser extends UserInfo {
  readonly uid: string
  readonly extra: Readonly<Record<string, readonly string[]>>
}

const userHeader = 'impersonate-user'
const groupHeader = 'impersonate-group'
const uidHeader = 'impersonate-uid'
const extraPrefix = 'impersonate-extra-'

/** Undefined for a request that does not impersonate. Throws a 400 when the user name is missing. */
export function readImpersonatedUser(headers: WireHeaders): ImpersonatedUser | undefined {
  return hasImpersonation(headers) ? readHeaders(headers) : undefined
}

function hasImpersonation(headers: WireHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

function readHeaders(headers: WireHeaders): ImpersonatedUser | undefined {
  const name = headerText(getHeader(headers, userHeader) ?? '')
  const uid = headerText(getHeader(headers, uidHeader) ?? '')
  const groups = getHeaderValues(headers, groupHeader).map(headerText)
  const extra: Record<string, string[]> = Object.create(null)
  let hasMore = uid !== '' || groups.length > 0
  for (const header in headers) {
    if (!header.startsWith(extraPrefix)) continue
    hasMore = true
    const key = unescapeHeaderKey(header.slice(extraPrefix.length))
    extra[key] = [...(extra[key] ?? []), ...getHeaderValues(headers, header).map(headerText)]
  }
  const wanted = { name, uid, groups, extra }
  if (name !== '') return wanted
  if (hasMore) throw newBadRequest(`requested ${printUser(wanted)} without impersonating a user name`)
  return undefined
}

/** Whether a header is an impersonation header, which later filters must not see. */
export function isImpersonationHeader(name: string): boolean {
  return name === userHeader || name === groupHeader || name === uidHeader || name.startsWith(extraPrefix)
}

/** Go's print of the struct that upstream parses the headers into. */
function printUser({ name, uid, groups, extra }: ImpersonatedUser): string {
  const keys = Object.keys(extra).sort()
  const map = keys.map(key => `${JSON.stringify(key)}:${printList(extra[key]!)}`)
  const printed = keys.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${map.join(', ')}}`
  const list = groups.length === 0 ? '[]string(nil)' : printList(groups)
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${list}, Extra:${printed}}`
}

function printList(values: readonly string[]): string {
  return `[]string{${values.map(value => JSON.stringify(value)).join(', ')}}`
}
