import { isDNS1123Label, isDNS1123Subdomain } from '@coxswain/apimachinery/validation'

const userPrefix = 'system:serviceaccount:'

/** The user name of a service account. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `${userPrefix}${namespace}:${name}`
}

/** The groups that every service account of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** The service account of a user name; undefined for other users. */
export function splitServiceAccountUser(
  user: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(userPrefix)) return undefined
  const parts = user.slice(userPrefix.length).split(':')
  if (parts.length !== 2) return undefined
  const [namespace = '', name = ''] = parts
  if (isDNS1123Label(namespace).length > 0 || isDNS1123Subdomain(name).length > 0) return undefined
  return { namespace, name }
}
