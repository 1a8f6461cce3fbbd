import { toCustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import type { OperatorDefinition } from '@coxswain/runtime'
import type { GeneratedFile } from '../files/generated-file.ts'
import { certificateAnnotations } from './certificate-files.ts'
import { crdFileName } from './kinds.ts'
import type { ManifestsSource } from './source.ts'
import { webhookClientConfig } from './webhook-files.ts'
import { generatedYaml, kustomization } from './yaml-file.ts'

/** The CRDs, patches that add their conversion webhooks, and the kustomization of both. */
export function crdFiles({
  definitions,
  projectKinds,
  folder,
  project,
  maxDescriptionLength,
  featureGates = [],
}: ManifestsSource): GeneratedFile[] {
  if (projectKinds.length === 0) return []
  const converted = convertedNames(definitions)
  const bases = projectKinds.map(({ kind, crd }) =>
    generatedYaml(
      `${folder}/crd/bases/${crdFileName(crd)}`,
      maxDescriptionLength === undefined
        ? crd
        : toCustomResourceDefinition(kind, { maxDescriptionLength, featureGates }),
    ),
  )
  const patched = projectKinds.filter(({ crd }) => converted.has(crd.metadata.name))
  const patches = patched.map(({ crd, id }) =>
    generatedYaml(`${folder}/crd/patches/webhook_in_${id}.yaml`, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { ...certificateAnnotations(project), name: crd.metadata.name },
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: webhookClientConfig('/convert'), conversionReviewVersions: ['v1'] },
        },
      },
    }),
  )
  const isPatched = patches.length > 0
  return [
    ...bases,
    ...patches,
    ...(isPatched ? [generatedYaml(`${folder}/crd/kustomizeconfig.yaml`, conversionReferences)] : []),
    generatedYaml(
      `${folder}/crd/kustomization.yaml`,
      kustomization({
        resources: projectKinds.map(({ crd }) => `bases/${crdFileName(crd)}`),
        patches: patched.map(({ id }) => ({ path: `patches/webhook_in_${id}.yaml` })),
        configurations: isPatched ? ['kustomizeconfig.yaml'] : [],
      }),
    ),
  ]
}

/** The names of the CRDs that webhooks of the operators convert. */
export function convertedNames(definitions: readonly OperatorDefinition[]): ReadonlySet<string> {
  const converted = definitions
    .flatMap(({ webhooks }) => webhooks)
    .filter(({ conversions }) => conversions.length > 0)
  return new Set(converted.map(({ kind }) => `${kind.resource}.${kind.group}`))
}

const definitionFields = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', version: 'v1' }

/** The Service of a conversion webhook is renamed and moved with the Service itself. */
const conversionReferences = {
  nameReference: [
    {
      kind: 'Service',
      version: 'v1',
      fieldSpecs: [{ ...definitionFields, path: 'spec/conversion/webhook/clientConfig/service/name' }],
    },
  ],
  namespace: [
    {
      ...definitionFields,
      path: 'spec/conversion/webhook/clientConfig/service/namespace',
      create: false,
    },
  ],
}
