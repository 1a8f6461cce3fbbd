/** A role or a binding as the server shows it. */
export interface BootstrapObject {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly aggregationRule?: {
    readonly clusterRoleSelectors: readonly { readonly matchLabels?: Readonly<Record<string, string>> }[]
  }
  readonly rules?: readonly Rule[] | null
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

interface Rule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface Policy {
  readonly clusterRoles: readonly BootstrapObject[]
  readonly clusterRoleBindings: readonly BootstrapObject[]
  readonly roles: readonly BootstrapObject[]
  readonly roleBindings: readonly BootstrapObject[]
}

const aggregateLabel = 'rbac.authorization.k8s.io/'
const common = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }
const autoupdate = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' }

/** The file's text. Throws for an object that the form cannot hold. */
export function printPolicy(policy: Policy): string {
  const table = (name: string, lines: readonly string[]) =>
    `export const ${name} = \`\n${lines.join('\n')}\n\`\n`
  return [
    '// Written by tools/gen-rbac/gen.ts, which says how to read it. Do not edit.\n',
    table('clusterRoles', policy.clusterRoles.flatMap(printRole)),
    table('clusterRoleBindings', policy.clusterRoleBindings.flatMap(printBinding)),
    table('roles', policy.roles.flatMap(printRole)),
    table('roleBindings', policy.roleBindings.flatMap(printBinding)),
  ].join('\n')
}

function printRole(role: BootstrapObject): string[] {
  const labels = Object.keys(checkMetadata(role)).map(label => ` +${label.slice(aggregateLabel.length)}`)
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? []
  return [
    nameOf(role) + labels.join(''),
    ...selectors.map(({ matchLabels = {} }) => {
      const [label = '', ...others] = Object.keys(matchLabels)
      if (others.length > 0 || matchLabels[label] !== 'true' || !label.startsWith(aggregateLabel))
        throw new Error(`${nameOf(role)}: cannot write ${JSON.stringify(matchLabels)}`)
      return `  < ${label.slice(aggregateLabel.length)}`
    }),
    ...(role.rules ?? []).map(printRule),
  ]
}

function printRule({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs,
}: Rule): string {
  if (nonResourceURLs) return `  ${listOf(verbs)} = ${listOf(nonResourceURLs)}`
  const groups = apiGroups.map(group => group || '-')
  const names = resourceNames.length > 0 ? ` ${listOf(resourceNames)}` : ''
  return `  ${listOf(verbs)} ${listOf(groups)} ${listOf(resources)}${names}`
}

function printBinding(binding: BootstrapObject): string[] {
  const { name } = binding.metadata
  if (Object.keys(checkMetadata(binding)).length > 0) throw new Error(`${name}: cannot write its labels`)
  const role = binding.roleRef!
  if (role.kind !== (binding.metadata.namespace ? 'Role' : 'ClusterRole'))
    throw new Error(`${name}: cannot write a reference to a ${role.kind}`)
  return [
    role.name === name ? nameOf(binding) : `${nameOf(binding)} ${role.name}`,
    ...(binding.subjects ?? []).map(({ kind, name, namespace }) =>
      kind === 'ServiceAccount' ? `  ${kind} ${namespace}/${name}` : `  ${kind} ${name}`,
    ),
  ]
}

function nameOf({ metadata: { namespace, name } }: BootstrapObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The labels that not all have. */
function checkMetadata(object: BootstrapObject): Readonly<Record<string, string>> {
  const { labels = {}, annotations = {} } = object.metadata
  const { 'kubernetes.io/bootstrapping': bootstrapping, ...others } = labels
  const isCommon = bootstrapping === common['kubernetes.io/bootstrapping']
  const isWritable = Object.entries(others).every(
    ([label, value]) => label.startsWith(aggregateLabel) && value === 'true',
  )
  if (!isCommon || !isWritable || JSON.stringify(annotations) !== JSON.stringify(autoupdate))
    throw new Error(`${nameOf(object)}: cannot write ${JSON.stringify({ labels, annotations })}`)
  return others
}

function listOf(items: readonly string[]): string {
  for (const item of items)
    if (/[\s,`\\$]/.test(item)) throw new Error(`cannot write ${JSON.stringify(item)}`)
  return items.join(',')
}
