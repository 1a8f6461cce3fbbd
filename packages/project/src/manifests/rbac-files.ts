import type { GeneratedFile } from '../files/generated-file.ts'
import { convertedNames } from './crd-files.ts'
import { controllerGrants, operatorGrants, recordedGrants, type ScopedGrant } from './grants.ts'
import { kindRoleFiles } from './kind-roles.ts'
import { projectLabels } from './labels.ts'
import { mergeGrants, type PolicyRule } from './policy-rules.ts'
import type { ManifestsSource } from './source.ts'
import { hasWebhooks } from './webhook-files.ts'
import { generatedYaml, kustomization } from './yaml-file.ts'

/** The ServiceAccount and its namespace, before kustomize renames and moves them. */
const account = { kind: 'ServiceAccount', name: 'controller-manager', namespace: 'system' }
const apiGroup = 'rbac.authorization.k8s.io'

interface Role {
  readonly name: string
  readonly namespace: string | undefined
  readonly rules: readonly PolicyRule[]
}

/** The rights of the manager and the roles for users of its kinds. */
export function rbacFiles(source: ManifestsSource): GeneratedFile[] {
  const { folder, project } = source
  const roles = rolesOf(source).filter(({ namespace }) => namespace === undefined)
  const labels = projectLabels(project.name)
  const host = hostFiles(source)
  const kinds = kindRoleFiles(source)
  const own = [
    generatedYaml(`${folder}/rbac/service_account.yaml`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { labels, name: account.name, namespace: account.namespace },
    }),
    ...(roles.length === 0
      ? []
      : [
          generatedYaml(`${folder}/rbac/role.yaml`, ...roles.map(role => roleObject(role))),
          generatedYaml(
            `${folder}/rbac/role_binding.yaml`,
            ...roles.map(role => bindingObject(role, { labels })),
          ),
        ]),
    ...host,
    ...kinds,
  ]
  const names = own.map(({ path }) => path.slice(`${folder}/rbac/`.length))
  return [...own, generatedYaml(`${folder}/rbac/kustomization.yaml`, kustomization({ resources: names }))]
}

/** Whether rights are restricted to namespaces other than the manager's. */
export function hasNamespaceRoles(source: ManifestsSource): boolean {
  return rolesOf(source).some(({ namespace }) => namespace !== undefined)
}

/**
 * The Roles in the namespaces of the cluster. They have their final names, since kustomize's `namespace` would move them to that of the
 * manager: they stand beside the kustomization that has it.
 */
export function namespaceRoleFiles(source: ManifestsSource): GeneratedFile[] {
  const { folder, project } = source
  const roles = rolesOf(source)
    .filter(({ namespace }) => namespace !== undefined)
    .map(role => ({ ...role, name: `${project.name}-${role.name}` }))
  if (roles.length === 0) return []
  const labels = projectLabels(project.name)
  const subject = {
    ...account,
    name: `${project.name}-${account.name}`,
    namespace: `${project.name}-system`,
  }
  return [
    generatedYaml(`${folder}/namespaces/role.yaml`, ...roles.map(role => roleObject(role))),
    generatedYaml(
      `${folder}/namespaces/role_binding.yaml`,
      ...roles.map(role => bindingObject(role, { labels, subject })),
    ),
    generatedYaml(
      `${folder}/namespaces/kustomization.yaml`,
      kustomization({ resources: ['role.yaml', 'role_binding.yaml'] }),
    ),
  ]
}

/** One role for each controller, and `manager-role` for the rest; in the namespaces that the operators watch, where those are restricted. */
function rolesOf(source: ManifestsSource): Role[] {
  const { definitions, calls = [], project } = source
  const all = definitions.flatMap(({ controllers }) =>
    controllers.map(controller => [`${controller.name}-role`, controllerGrants(controller, calls)] as const),
  )
  const declared = [...definitions.flatMap(operatorGrants), ...webhookGrants(source)]
  const granted = [...all.flatMap(([, grants]) => grants), ...declared]
  const manager = [...declared, ...recordedGrants(calls, granted)]
  return [...all, ['manager-role', manager] as const]
    .flatMap(([name, grants]) => splitByNamespace(name, grants, project.namespaces))
    .sort((a, b) => compare(a.namespace ?? '', b.namespace ?? '') || compare(a.name, b.name))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A ClusterRole, and a Role for each namespace that grants are restricted to. */
function splitByNamespace(
  name: string,
  grants: readonly ScopedGrant[],
  watched: readonly string[] | undefined,
): Role[] {
  const byNamespace = new Map<string | undefined, ScopedGrant[]>()
  for (const grant of grants) {
    const isRestricted = grant.namespaced !== false && watched !== undefined && watched.length > 0
    const namespaces =
      grant.namespace !== undefined ? [grant.namespace] : isRestricted ? watched : [undefined]
    for (const namespace of namespaces)
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), grant])
  }
  return [...byNamespace].map(([namespace, own]) => ({ name, namespace, rules: mergeGrants(own) }))
}

/** The CA bundles that the manager writes where it makes its own certificates. */
function webhookGrants({ definitions, project }: ManifestsSource): ScopedGrant[] {
  if (!hasWebhooks(definitions) || project.certificates === 'cert-manager') return []
  const namesOf = (what: 'defaulter' | 'validator') =>
    definitions
      .filter(({ webhooks }) => webhooks.some(webhook => webhook[what]))
      .map(({ name }) => `${project.name}-${name}`)
  const group = 'admissionregistration.k8s.io'
  const grants = [
    { group, resource: 'mutatingwebhookconfigurations', names: namesOf('defaulter'), write: 'update' },
    { group, resource: 'validatingwebhookconfigurations', names: namesOf('validator'), write: 'update' },
    {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      names: [...convertedNames(definitions)],
      write: 'patch',
    },
  ]
  return grants
    .filter(({ names }) => names.length > 0)
    .map(({ group, resource, names, write }) => ({
      groups: [group],
      resources: [resource],
      names,
      verbs: ['get', write],
      namespaced: false,
    }))
}

/** What the host needs: leader election, the certificates of webhooks, and access checks for metrics. */
function hostFiles({ definitions, folder, project }: ManifestsSource): GeneratedFile[] {
  const labels = projectLabels(project.name)
  const pair = (file: string, role: Role): GeneratedFile[] => [
    generatedYaml(`${folder}/rbac/${file}_role.yaml`, roleObject(role, labels)),
    generatedYaml(`${folder}/rbac/${file}_role_binding.yaml`, bindingObject(role, { labels })),
  ]
  const { namespace } = account
  const leases: PolicyRule = {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'create', 'update'],
  }
  const events: PolicyRule = { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] }
  const secrets: PolicyRule = {
    apiGroups: [''],
    resources: ['secrets'],
    verbs: ['get', 'create', 'update'],
  }
  const reviews: PolicyRule[] = [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ]
  const makesCertificates = hasWebhooks(definitions) && project.certificates !== 'cert-manager'
  return [
    ...pair('leader_election', { name: 'leader-election-role', namespace, rules: [leases, events] }),
    ...(makesCertificates
      ? pair('webhook_certificates', { name: 'webhook-certificates-role', namespace, rules: [secrets] })
      : []),
    ...pair('metrics_auth', { name: 'metrics-auth-role', namespace: undefined, rules: reviews }),
    generatedYaml(
      `${folder}/rbac/metrics_reader_role.yaml`,
      roleObject({
        name: 'metrics-reader',
        namespace: undefined,
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      }),
    ),
  ]
}

function roleObject({ name, namespace, rules }: Role, labels?: Readonly<Record<string, string>>): object {
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { ...(labels && { labels }), name, ...(namespace && { namespace }) },
    rules,
  }
}

function bindingObject(
  { name: role, namespace }: Role,
  {
    labels,
    subject = account,
  }: { readonly labels: Readonly<Record<string, string>>; readonly subject?: typeof account },
): object {
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { labels, name: `${role}binding`, ...(namespace && { namespace }) },
    roleRef: { apiGroup, kind: namespace === undefined ? 'ClusterRole' : 'Role', name: role },
    subjects: [subject],
  }
}
