import type { CustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'
import type { GeneratedFile } from '../files/generated-file.ts'
import { projectLabels } from './labels.ts'
import { sampleOf } from './sample.ts'
import type { ManifestsSource, ProjectInformation } from './source.ts'
import { kustomization, ownedYaml } from './yaml-file.ts'

/** An object of each kind, and the kustomization of all. */
export function sampleFiles({ projectKinds, folder, project }: ManifestsSource): GeneratedFile[] {
  const samples = projectKinds.flatMap(({ crd }) => {
    const object = sampleObjectOf(crd, project)
    return object ? [{ name: sampleFileName(crd, object.version, project), object: object.value }] : []
  })
  if (samples.length === 0) return []
  return [
    ...samples.map(({ name, object }) => ownedYaml(`${folder}/samples/${name}`, object)),
    ownedYaml(
      `${folder}/samples/kustomization.yaml`,
      kustomization({ resources: samples.map(({ name }) => name) }),
    ),
  ]
}

/** The stored version, or the first that is served. */
function sampleObjectOf(
  { spec }: CustomResourceDefinition,
  project: ProjectInformation,
): { readonly version: string; readonly value: object } | undefined {
  const served = spec.versions.filter(version => version.served)
  const version = served.find(({ storage }) => storage) ?? served[0]
  if (!version) return undefined
  const { group, names } = spec
  const schema: Schema = version.schema?.openAPIV3Schema ?? {}
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...properties } = schema.properties ?? {}
  const fields = sampleOf({ ...schema, properties }) as Record<string, unknown>
  const { status: _status, metadata: _metadata, ...rest } = fields
  const named = metadata?.properties?.name
  const value = {
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    metadata: {
      labels: projectLabels(project.name),
      name: named ? sampleOf(named) : `${names.singular ?? names.kind.toLowerCase()}-sample`,
    },
    ...rest,
  }
  return { version: version.name, value }
}

/** `GROUP_VERSION_KIND.yaml`, where the group is without the project's domain. */
function sampleFileName(
  { spec }: CustomResourceDefinition,
  version: string,
  { domain }: ProjectInformation,
): string {
  const suffix = `.${domain ?? ''}`
  const group = domain && spec.group.endsWith(suffix) ? spec.group.slice(0, -suffix.length) : spec.group
  return `${group}_${version}_${spec.names.kind.toLowerCase()}.yaml`
}
