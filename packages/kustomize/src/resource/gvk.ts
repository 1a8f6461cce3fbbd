/** Group, version and kind; empty where a selector does not care. */
export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const at = apiVersion.indexOf('/')
  return at < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, at), version: apiVersion.slice(at + 1) }
}

export const apiVersionOf = ({ group, version }: Gvk): string =>
  group === '' ? version : `${group}/${version}`

export const isSelected = (gvk: Gvk, selector: Gvk): boolean =>
  (selector.group === '' || selector.group === gvk.group) &&
  (selector.version === '' || selector.version === gvk.version) &&
  (selector.kind === '' || selector.kind === gvk.kind)

export const equalGvk = (a: Gvk, b: Gvk): boolean =>
  a.kind === b.kind && a.version === b.version && a.group === b.group

export const printGvk = ({ group, version, kind }: Gvk): string =>
  `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}`

/** The order in which kustomize puts kinds by default. */
export const orderFirst: readonly string[] = [
  'Namespace',
  'ResourceQuota',
  'StorageClass',
  'CustomResourceDefinition',
  'ServiceAccount',
  'PodSecurityPolicy',
  'Role',
  'ClusterRole',
  'RoleBinding',
  'ClusterRoleBinding',
  'ConfigMap',
  'Secret',
  'Endpoints',
  'Service',
  'LimitRange',
  'PriorityClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Deployment',
  'StatefulSet',
  'CronJob',
  'PodDisruptionBudget',
]

export const orderLast: readonly string[] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

/** The rank of each kind that has one; others are 0. */
export function rankKinds(first: readonly string[], last: readonly string[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>()
  for (const [at, kind] of first.entries()) ranks.set(kind, at - first.length)
  for (const [at, kind] of last.entries()) ranks.set(kind, 1 + at)
  return ranks
}

export const sortText = ({ group, version, kind }: Gvk): string =>
  `${group || '~G'}_${version || '~V'}_${kind || '~K'}`
