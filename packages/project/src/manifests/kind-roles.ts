import type { GeneratedFile } from '../files/generated-file.ts'
import { projectLabels } from './labels.ts'
import type { ManifestsSource } from './source.ts'
import { generatedYaml } from './yaml-file.ts'

const levels = [
  { level: 'admin', aggregateTo: 'admin', verbs: ['*'] },
  {
    level: 'editor',
    aggregateTo: 'edit',
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
  { level: 'viewer', aggregateTo: 'view', verbs: ['get', 'list', 'watch'] },
] as const

/**
 * For users of the kinds: three ClusterRoles for each. Those of namespaced kinds are aggregated to `admin`, `edit` and `view`, so that
 * users with one of these in a namespace may use the kind there.
 */
export function kindRoleFiles({ projectKinds, folder, project }: ManifestsSource): GeneratedFile[] {
  return projectKinds.flatMap(({ crd, id }) => {
    const { group, names, scope, versions } = crd.spec
    const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined)
    return levels.map(({ level, aggregateTo, verbs }) =>
      generatedYaml(`${folder}/rbac/${id}_${level}_role.yaml`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: {
          labels: {
            ...projectLabels(project.name),
            ...(scope === 'Namespaced' && {
              [`rbac.authorization.k8s.io/aggregate-to-${aggregateTo}`]: 'true',
            }),
          },
          name: `${id}-${level}-role`,
        },
        rules: [
          { apiGroups: [group], resources: [names.plural], verbs },
          ...(hasStatus
            ? [{ apiGroups: [group], resources: [`${names.plural}/status`], verbs: ['get'] }]
            : []),
        ],
      }),
    )
  })
}
