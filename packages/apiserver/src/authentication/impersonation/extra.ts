import { isDNS1123Subdomain } from '@coxswain/apimachinery/validation'

/** Why a constrained mode rejects this extra; undefined when it is allowed. */
export function checkExtra(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    const problems = checkKey(key)
    if (problems.length > 0) {
      const printed = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`
      return `impersonating an invalid key in extra is not allowed: ${printed}`
    }
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
    }
    if (values.length === 0) return 'impersonating empty values in extra is not allowed'
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const pathPattern = new RegExp(`^${pathForm}$`)

/** Keys have the form `acme.io/foo`. */
function checkKey(key: string): string[] {
  const invalid = (value: string, detail: string) =>
    `extra.key: Invalid value: ${JSON.stringify(value)}: ${detail}`
  const slash = key.indexOf('/')
  const path = key.slice(slash + 1)
  if (slash < 1 || path === '') {
    return [invalid(key, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const host = key.slice(0, slash)
  const problems = isDNS1123Subdomain(host).map(detail => invalid(host, detail))
  if (!pathPattern.test(path)) {
    problems.push(invalid(path, `Invalid path (regex used for validation is '${pathForm}')`))
  }
  return problems
}
