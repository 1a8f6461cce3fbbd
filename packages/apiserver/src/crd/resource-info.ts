import type { PrinterColumn, ResourceInfo, Schema, SubresourceInfo, Verb } from '@coxswain/apimachinery'
import type { JsonObject } from '../json.ts'

interface Definition {
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: {
      plural: string
      singular?: string
      kind: string
      listKind?: string
      shortNames?: string[]
      categories?: string[]
    }
    readonly versions: readonly {
      readonly name: string
      readonly served: boolean
      readonly storage: boolean
      readonly schema?: { readonly openAPIV3Schema?: Schema }
      readonly subresources?: { readonly status?: object; readonly scale?: object }
      readonly additionalPrinterColumns?: readonly (PrinterColumn & { priority?: number })[]
      readonly selectableFields?: readonly { readonly jsonPath: string }[]
    }[]
  }
}
const verbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]
const sub: readonly Verb[] = ['get', 'patch', 'update']

export function resourceInfoFromCrd(object: JsonObject): ResourceInfo {
  const { spec } = object as unknown as Definition
  const { names } = spec
  return {
    group: spec.group,
    resource: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    versions: spec.versions.map(version => {
      const schema = version.schema?.openAPIV3Schema ?? {}
      const subresources: SubresourceInfo[] = []
      if (version.subresources?.status) subresources.push({ name: 'status', verbs: sub })
      if (version.subresources?.scale)
        subresources.push({ name: 'scale', verbs: sub, group: 'autoscaling', version: 'v1', kind: 'Scale' })
      return {
        name: version.name,
        served: version.served,
        storage: version.storage,
        verbs,
        schema: () => schema,
        columns: (version.additionalPrinterColumns ?? []).map(column => ({
          ...column,
          priority: column.priority ?? 0,
        })),
        selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
        subresources,
      }
    }),
  }
}
