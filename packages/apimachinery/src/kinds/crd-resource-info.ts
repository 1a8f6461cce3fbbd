import { comparePreferredVersions } from '../meta/version.ts'
import type { Schema } from '../schema/schema.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from './crd.ts'
import type { PrinterColumn, ResourceInfo, SubresourceInfo, Verb, VersionInfo } from './resource-info.ts'

const verbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]
const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update']

/** The default columns of a CRD without columns. */
const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
}

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/**
 * The resource of a CustomResourceDefinition. Versions are in the order of
 * preference: Kubernetes' own order of version names. Names are those of the spec: whether they were accepted is the
 * server's concern.
 */
export function resourceInfoFromCrd(crd: CustomResourceDefinition): ResourceInfo {
  const { group, names, scope } = crd.spec
  return {
    group,
    resource: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    versions: crd.spec.versions
      .map(version => versionInfo(version, crd.spec))
      .sort((a, b) => comparePreferredVersions(a.name, b.name)),
  }
}

function versionInfo(
  version: CustomResourceDefinitionVersion,
  spec: CustomResourceDefinitionSpec,
): VersionInfo {
  const schema = version.schema?.openAPIV3Schema ?? anything
  const columns = version.additionalPrinterColumns
  const warning = version.deprecationWarning ?? defaultWarning(version.name, spec)
  return {
    name: version.name,
    served: version.served,
    storage: version.storage,
    verbs,
    schema: () => schema,
    columns: columns?.length
      ? columns.map(column => ({ ...column, priority: column.priority ?? 0 }))
      : [ageColumn],
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    subresources: subresourcesOf(version),
    ...(version.subresources?.scale && { scale: version.subresources.scale }),
    ...(version.deprecated === true ? { deprecated: warning } : {}),
  }
}

/** Names the most stable served version to use instead, where there is one. */
function defaultWarning(
  deprecated: string,
  { group, names, versions }: CustomResourceDefinitionSpec,
): string {
  const message = `${group}/${deprecated} ${names.kind} is deprecated`
  const [better] = versions
    .filter(
      ({ name, served, deprecated: old }) => served && !old && comparePreferredVersions(name, deprecated) < 0,
    )
    .map(({ name }) => name)
    .sort(comparePreferredVersions)
  return better === undefined ? message : `${message}; use ${group}/${better} ${names.kind}`
}

function subresourcesOf({ subresources }: CustomResourceDefinitionVersion): SubresourceInfo[] {
  const result: SubresourceInfo[] = []
  if (subresources?.status !== undefined) result.push({ name: 'status', verbs: subresourceVerbs })
  if (subresources?.scale !== undefined) {
    result.push({
      name: 'scale',
      verbs: subresourceVerbs,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    })
  }
  return result
}
