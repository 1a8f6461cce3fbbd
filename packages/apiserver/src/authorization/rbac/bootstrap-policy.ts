import type { JsonObject } from '@coxswain/apimachinery/json'
import type { PolicyRule } from '@coxswain/strategies'
import * as table from '../../gen/bootstrap-policy.ts'

/** A role or binding of the bootstrap policy, without the metadata that a server adds. */
export interface BootstrapObject {
  readonly kind: 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding'
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Roles only. */
  readonly rules?: readonly PolicyRule[]
  readonly aggregationRule?: JsonObject
  /** Bindings only. */
  readonly roleRef?: JsonObject
  readonly subjects?: readonly JsonObject[]
}

export const bootstrapAnnotations: Readonly<Record<string, string>> = {
  'rbac.authorization.kubernetes.io/autoupdate': 'true',
}
const commonLabels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
const apiGroup = 'rbac.authorization.k8s.io'

let policy: readonly BootstrapObject[] | undefined

/** The whole policy of Kubernetes 1.36, the same for all servers; parsed once. */
export function readBootstrapPolicy(): readonly BootstrapObject[] {
  policy ??= parsePolicy()
  return policy
}

function parsePolicy(): BootstrapObject[] {
  return [
    ...readTable(table.clusterRoles, (title, lines) => readRole('ClusterRole', title, lines)),
    ...readTable(table.clusterRoleBindings, (title, lines) =>
      readBinding('ClusterRoleBinding', title, lines),
    ),
    ...readTable(table.roles, (title, lines) => readRole('Role', title, lines)),
    ...readTable(table.roleBindings, (title, lines) => readBinding('RoleBinding', title, lines)),
  ]
}

/** Indented lines continue the line above. */
function* readTable<T>(text: string, read: (title: string[], lines: string[][]) => T): Generator<T> {
  let title: string[] = []
  let lines: string[][] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const words = line.trimStart().split(' ')
    if (line.startsWith(' ')) {
      lines.push(words)
      continue
    }
    if (title.length > 0) yield read(title, lines)
    title = words
    lines = []
  }
  if (title.length > 0) yield read(title, lines)
}

function readRole(kind: 'ClusterRole' | 'Role', title: string[], lines: string[][]): BootstrapObject {
  const labels: Record<string, string> = { ...commonLabels }
  for (const label of title.slice(1)) labels[`${apiGroup}/${label.slice(1)}`] = 'true'
  const clusterRoleSelectors = lines
    .filter(([mark]) => mark === '<')
    .map(([, label]) => ({ matchLabels: { [`${apiGroup}/${label}`]: 'true' } }))
  return {
    kind,
    ...placeOf(title[0]!),
    labels,
    rules: lines.filter(([mark]) => mark !== '<').map(readRule),
    ...(clusterRoleSelectors.length > 0 && { aggregationRule: { clusterRoleSelectors } }),
  }
}

function readRule([verbs = '', groups = '', resources = '', names]: string[]): PolicyRule {
  if (groups === '=') return { verbs: verbs.split(','), nonResourceURLs: resources.split(',') }
  return {
    verbs: verbs.split(','),
    apiGroups: groups.split(',').map(group => (group === '-' ? '' : group)),
    resources: resources.split(','),
    ...(names !== undefined && { resourceNames: names.split(',') }),
  }
}

function readBinding(
  kind: 'ClusterRoleBinding' | 'RoleBinding',
  [title = '', role]: string[],
  lines: string[][],
): BootstrapObject {
  const place = placeOf(title)
  const roleKind = kind === 'RoleBinding' ? 'Role' : 'ClusterRole'
  return {
    kind,
    ...place,
    labels: commonLabels,
    roleRef: { apiGroup, kind: roleKind, name: role ?? place.name },
    subjects: lines.map(([subject = '', name = '']) => {
      if (subject !== 'ServiceAccount') return { kind: subject, apiGroup, name }
      const account = placeOf(name)
      return { kind: subject, name: account.name, namespace: account.namespace }
    }),
  }
}

function placeOf(title: string): { namespace: string; name: string } {
  const slash = title.indexOf('/')
  return { namespace: slash < 0 ? '' : title.slice(0, slash), name: title.slice(slash + 1) }
}
