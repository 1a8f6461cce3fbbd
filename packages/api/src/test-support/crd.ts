import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import type { Schema } from '@coxswain/apimachinery/schema'

/** As much of a CustomResourceDefinition as the fixtures have. */
export interface Crd {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: { plural: string; singular: string; kind: string; listKind: string }
    readonly versions: readonly CrdVersion[]
  }
}

interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly schema: { readonly openAPIV3Schema: Schema }
  readonly subresources?: { readonly status?: object; readonly scale?: object }
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

/** What a server knows of a CRD that is established. */
export function resourceOf({ spec }: Crd): ResourceInfo {
  const verbs = ['get', 'patch', 'update'] as const
  return {
    group: spec.group,
    resource: spec.names.plural,
    singular: spec.names.singular,
    kind: spec.names.kind,
    listKind: spec.names.listKind,
    shortNames: [],
    categories: [],
    namespaced: spec.scope === 'Namespaced',
    versions: spec.versions.map(version => ({
      name: version.name,
      served: version.served,
      storage: version.storage,
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      schema: () => version.schema.openAPIV3Schema,
      columns: [],
      selectableFields: (version.selectableFields ?? []).map(field => field.jsonPath.slice(1)),
      subresources: [
        ...(version.subresources?.status ? [{ name: 'status', verbs }] : []),
        ...(version.subresources?.scale
          ? [{ name: 'scale', verbs, group: 'autoscaling', version: 'v1', kind: 'Scale' }]
          : []),
      ],
    })),
  }
}
