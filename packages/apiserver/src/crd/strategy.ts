import { isObject, type JsonObject } from '../json.ts'
import type { Strategy } from '../registry/strategy.ts'

/** Keeps a definition until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

interface Definition {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string }
  readonly spec: {
    readonly names: JsonObject
    readonly versions?: readonly { name: string; storage?: boolean }[]
  }
}

export const customResourceDefinitionStrategy: Strategy = {
  generation: true,
  default(object) {
    if (!isObject(object.spec) || !isObject(object.spec.names)) return
    const { names } = object.spec
    if (typeof names.kind === 'string' && names.kind !== '') {
      names.singular ??= names.kind.toLowerCase()
      names.listKind ??= `${names.kind}List`
    }
    object.spec.conversion ??= { strategy: 'None' }
  },
  prepareForCreate(object) {
    const { spec } = object as unknown as Definition
    const stored = (spec?.versions ?? []).filter(version => version.storage).map(version => version.name)
    object.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: stored }
  },
  prepareForUpdate(object) {
    const { spec } = object as unknown as Definition
    const status = object.status as { storedVersions?: string[] }
    for (const version of spec?.versions ?? []) {
      if (version.storage && !status.storedVersions?.includes(version.name)) {
        status.storedVersions = [...(status.storedVersions ?? []), version.name]
      }
    }
  },
  /** The first delete only marks it: its objects go first. */
  holdsDeletion: object => (object.metadata as JsonObject).deletionTimestamp === undefined,
  prepareForDelete(object) {
    const metadata = object.metadata as { finalizers?: string[] }
    if (!metadata.finalizers?.includes(cleanupFinalizer))
      metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer]
  },
  cells: object => {
    const { metadata } = object as unknown as Definition
    return [metadata.name, metadata.creationTimestamp]
  },
}
