import type { WebhookClientConfig } from '@coxswain/api/apiextensions/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newInvalid } from '@coxswain/apimachinery/status'
import type { Decoded, Strategy } from '@coxswain/strategies'
import { defaultClientConfig } from '@coxswain/strategies'
import {
  isDeeper,
  readCrd,
  unrecognizedFormats,
  validateCrd,
  versionsOf,
} from '@coxswain/strategies/apiextensions'
import { compileAhead } from './ahead.ts'

/** Keeps a CRD until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/** Adds the storage version to `status.storedVersions`. */
function addStorageVersion(object: JsonObject, stored: readonly string[]): readonly string[] {
  const storage = versionsOf(readCrd(object).spec).find(version => version.storage)
  return !storage || stored.includes(storage.name ?? '') ? stored : [...stored, storage.name ?? '']
}

/** The maximum nesting of schemas: everything that works on schemas is recursive. */
const deepestSchema = 500

/** Throws a 422 for schemas that are nested too deeply. */
function checkDepth(object: JsonObject): void {
  const { metadata, spec } = readCrd(object)
  const tooDeep = versionsOf(spec).flatMap(({ schema }, index) => {
    if (!schema?.openAPIV3Schema || !isDeeper(schema.openAPIV3Schema, deepestSchema)) return []
    const path = field.Path.of('spec', 'versions').index(index).child('schema', 'openAPIV3Schema')
    return [field.forbidden(path, `schemas may be nested at most ${deepestSchema} levels deep`)]
  })
  if (tooDeep.length === 0) return
  const kind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }
  throw newInvalid(kind, metadata?.name ?? '', tooDeep)
}

export const customResourceDefinitionStrategy: Strategy = {
  generation: true,
  unconditionalUpdate: false,
  default(object) {
    checkDepth(object)
    if (!isObject(object.spec) || !isObject(object.spec.names)) return
    const { names } = object.spec
    if (typeof names.kind === 'string' && names.kind !== '') {
      names.singular ||= names.kind.toLowerCase()
      names.listKind ||= `${names.kind}List`
    }
    object.spec.conversion ??= { strategy: 'None' }
    const { webhook } = object.spec.conversion as JsonObject
    if (isObject(webhook))
      defaultClientConfig(webhook.clientConfig as Decoded<WebhookClientConfig> | undefined)
  },
  async prepareForCreate(object, { clock }) {
    await compileAhead(object, clock)
    object.status = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: addStorageVersion(object, []),
    }
  },
  async prepareForUpdate(object, old, { clock }) {
    if (!deepEqual(object.spec, old.spec)) await compileAhead(object, clock)
    const status = object.status as { storedVersions?: readonly string[] | null }
    status.storedVersions = addStorageVersion(object, status.storedVersions ?? [])
  },
  validate: (object, _context, old) => validateCrd(object, old),
  warnings: (object, old) =>
    unrecognizedFormats(object, old).map(format => `unrecognized format ${JSON.stringify(format)}`),
  /** The first delete only marks the CRD as terminating: its objects are deleted first. */
  holdsDeletion: object => (object.metadata as JsonObject).deletionTimestamp === undefined,
  prepareForDelete(object) {
    const metadata = object.metadata as { finalizers?: string[] }
    if (!metadata.finalizers?.includes(cleanupFinalizer))
      metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer]
  },
  cells: object => {
    const { metadata } = readCrd(object)
    return { Name: metadata.name, 'Created At': metadata.creationTimestamp }
  },
}
