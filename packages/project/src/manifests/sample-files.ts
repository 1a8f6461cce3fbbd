import * as field from '@coxswain/apimachinery/field'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  Kind,
} from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { validateCustomObject } from '@coxswain/strategies/apiextensions'
import type { GeneratedFile } from '../files/generated-file.ts'
import { projectLabels } from './labels.ts'
import { sampleOf } from './sample.ts'
import type { ManifestsSource, ProjectInformation } from './source.ts'
import { kustomization, ownedYaml } from './yaml-file.ts'

/** An object of each kind, and the kustomization of all. The object is made and checked when its file is written: most runs find one. */
export function sampleFiles({ projectKinds, folder, project }: ManifestsSource): GeneratedFile[] {
  const samples = projectKinds.flatMap(({ crd }) => {
    const version = sampleVersionOf(crd)
    return version ? [{ crd, version, name: sampleFileName(crd, version.name, project) }] : []
  })
  if (samples.length === 0) return []
  return [
    ...samples.map(({ crd, version, name }) => ({
      path: `${folder}/samples/${name}`,
      get content() {
        return sampleText(crd, version, project)
      },
    })),
    ownedYaml(
      `${folder}/samples/kustomization.yaml`,
      kustomization({ resources: samples.map(({ name }) => name) }),
    ),
  ]
}

/** The stored version, or the first that is served. */
function sampleVersionOf({ spec }: CustomResourceDefinition): CustomResourceDefinitionVersion | undefined {
  const served = spec.versions.filter(version => version.served)
  return served.find(({ storage }) => storage) ?? served[0]
}

function sampleText(
  crd: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  project: ProjectInformation,
): string {
  const object = sampleObjectOf(crd, version, project)
  const problems = validateCustomObject(handleOf(crd, version), object).map(field.formatFieldError)
  return withComment(writeYaml(object), problems)
}

function sampleObjectOf(
  { spec }: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  project: ProjectInformation,
): object {
  const { group, names } = spec
  const schema: Schema = version.schema?.openAPIV3Schema ?? {}
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...properties } = schema.properties ?? {}
  const fields = sampleOf({ ...schema, properties }) as Record<string, unknown>
  const { status: _status, metadata: _metadata, ...rest } = fields
  const named = metadata?.properties?.name
  return {
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    metadata: {
      labels: projectLabels(project.name),
      name: named ? sampleOf(named) : `${names.singular ?? names.kind.toLowerCase()}-sample`,
    },
    ...rest,
  }
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

function handleOf({ spec }: CustomResourceDefinition, version: CustomResourceDefinitionVersion): Kind {
  const { kind, plural, singular = kind.toLowerCase(), listKind = `${kind}List` } = spec.names
  const schema: Schema = version.schema?.openAPIV3Schema ?? {}
  const namespaced = spec.scope === 'Namespaced'
  const { group } = spec
  return {
    group,
    version: version.name,
    kind,
    listKind,
    resource: plural,
    singular,
    namespaced,
    schema: () => schema,
  }
}

/** Values that only the author knows, such as those that rules in CEL relate, are named at the top of the file. */
function withComment(text: string, problems: readonly string[]): string {
  if (problems.length === 0) return text
  const lines = problems.map(problem => `#   ${problem.replaceAll('\n', ' ')}\n`).join('')
  return `# Change these values; a server rejects them:\n${lines}${text}`
}
