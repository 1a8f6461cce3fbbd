/** `apps/v1` is `AppsV1`, `rbac.authorization.k8s.io/v1` is `RbacAuthorizationV1`, the core group is `CoreV1`. */
export function operationPrefix(group: string, version: string): string {
  return groupTitle(group) + title(version)
}

/** `core_v1`, `rbacAuthorization_v1` */
export function operationTag(group: string, version?: string): string {
  const name = groupTitle(group)
  const start = name.charAt(0).toLowerCase() + name.slice(1)
  return version === undefined ? start : `${start}_${version}`
}

/** The group as part of an identifier: without `.k8s.io`, words joined. */
export function groupTitle(group: string): string {
  const short = group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')
  return short.split(/[./-]/).map(title).join('')
}

export function title(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** `example.com/v1 Thing` is `com.example.v1.Thing`, as upstream names the type of a custom resource. */
export function customTypeName(group: string, version: string, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}
