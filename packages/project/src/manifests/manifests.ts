import { describeOperator } from '@coxswain/runtime'
import { ProjectError } from '../errors.ts'
import { crdFiles } from './crd-files.ts'
import { collectKinds } from './kinds.ts'
import { managerFiles } from './manager-files.ts'
import { namespaceRoleFiles, rbacFiles } from './rbac-files.ts'
import { sampleFiles } from './sample-files.ts'
import type { Manifests, ManifestsInput, ManifestsSource } from './source.ts'
import { webhookFiles } from './webhook-files.ts'

/**
 * All manifests of a project: CRDs, RBAC, webhooks, manager, samples and the kustomizations that put them together.
 * @throws ProjectError `BadManifests` for what no server would accept: two kinds of one name, a rule that does not compile
 */
export function generateManifests(input: ManifestsInput): Manifests {
  const definitions = input.operators.map(describeOperator)
  const source: ManifestsSource = {
    ...input,
    definitions,
    projectKinds: collectKinds(definitions, input.kinds ?? [], input.featureGates),
    folder: input.folder ?? 'config',
  }
  if (definitions.length === 0 && source.projectKinds.length === 0)
    throw new ProjectError(
      'BadManifests',
      'there is nothing to generate: no operator, and no kind that is made with defineKind',
    )
  const crds = crdFiles(source)
  if (definitions.length === 0) return { generated: crds, owned: sampleFiles(source) }
  const manager = managerFiles(source)
  return {
    generated: [
      ...crds,
      ...rbacFiles(source),
      ...namespaceRoleFiles(source),
      ...webhookFiles(source),
      ...manager.generated,
    ],
    owned: [...manager.owned, ...sampleFiles(source)],
  }
}
