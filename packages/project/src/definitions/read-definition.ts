import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '@coxswain/apimachinery/kinds'
import { fail, listOf, readSchema } from './read-schema.ts'

/** A CRD as it is in a file or on a cluster. */
export interface ReadDefinition extends CustomResourceDefinition {
  /** `status.storedVersions`, where a cluster reported it. */
  readonly status?: { readonly storedVersions?: readonly string[] }
}

/** True for a CustomResourceDefinition of any version, well-formed or not. */
export function isDefinition(value: unknown): value is JsonObject {
  return (
    isObject(value) &&
    value.kind === 'CustomResourceDefinition' &&
    typeof value.apiVersion === 'string' &&
    value.apiVersion.startsWith('apiextensions.k8s.io/')
  )
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Reads an `apiextensions.k8s.io/v1` CustomResourceDefinition. What a server adds is dropped, except the stored versions.
 * @throws ProjectError `BadDefinition` that names the field
 */
export function readDefinition(value: unknown): ReadDefinition {
  if (!isDefinition(value)) return fail('the object', 'is not a CustomResourceDefinition')
  const metadata = objectAt(value.metadata, 'metadata')
  const place = typeof metadata.name === 'string' ? metadata.name : 'a CustomResourceDefinition'
  if (value.apiVersion !== 'apiextensions.k8s.io/v1')
    fail(`${place}: apiVersion`, 'must be apiextensions.k8s.io/v1')
  const spec = objectAt(value.spec, `${place}: spec`)
  const names = objectAt(spec.names, `${place}: spec.names`)
  const text = (object: JsonObject, name: string, path: string): string => {
    const member = object[name]
    return typeof member === 'string' && member !== ''
      ? member
      : fail(`${place}: ${path}.${name}`, 'is required')
  }
  const group = text(spec, 'group', 'spec')
  const kind = text(names, 'kind', 'spec.names')
  const plural = text(names, 'plural', 'spec.names')
  if (!/^[a-z0-9.-]+$/.test(group)) fail(`${place}: spec.group`, 'must be a DNS name in lower case')
  if (!/^[A-Za-z][-A-Za-z0-9]*$/.test(kind))
    fail(`${place}: spec.names.kind`, 'must consist of letters and digits')
  if (!/^[a-z][-a-z0-9.]*$/.test(plural))
    fail(`${place}: spec.names.plural`, 'must consist of lower-case letters, digits and dashes')
  const { scope } = spec
  if (scope !== 'Namespaced' && scope !== 'Cluster')
    return fail(`${place}: spec.scope`, 'must be Namespaced or Cluster')
  const versions = listOf(spec.versions, `${place}: spec.versions`).map((version, index) =>
    readVersion(version, `${place}: spec.versions[${index}]`),
  )
  if (versions.length === 0) fail(`${place}: spec.versions`, 'must not be empty')
  const repeated = versions.find(
    ({ name }, index) => versions.findIndex(other => other.name === name) !== index,
  )
  if (repeated) fail(`${place}: spec.versions`, `names ${repeated.name} twice`)
  const { annotations: given, labels } = metadata
  const annotations = isObject(given) ? omit(given, lastApplied) : {}
  const stored = isObject(value.status) ? value.status.storedVersions : undefined
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(Object.keys(annotations).length > 0 && { annotations: annotations as Record<string, string> }),
      ...(isObject(labels) && { labels: labels as Record<string, string> }),
    },
    spec: { ...(spec as object), group, names: { ...(names as object), kind, plural }, scope, versions },
    ...(Array.isArray(stored) && { status: { storedVersions: stored.map(String) } }),
  }
}

function readVersion(value: unknown, path: string): CustomResourceDefinitionVersion {
  const version = objectAt(value, path)
  const { name, served, storage, schema } = version
  if (typeof name !== 'string' || !/^[a-z][-a-z0-9]*$/.test(name))
    return fail(`${path}.name`, 'must be a version such as v1')
  const given = isObject(schema) ? schema.openAPIV3Schema : undefined
  for (const list of ['additionalPrinterColumns', 'selectableFields']) {
    for (const item of version[list] === undefined ? [] : listOf(version[list], `${path}.${list}`)) {
      if (!isObject(item) || typeof item.jsonPath !== 'string')
        fail(`${path}.${list}`, 'must have a jsonPath each')
    }
  }
  return {
    ...(version as object),
    name,
    served: served !== false,
    storage: storage === true,
    ...(isObject(given) && {
      schema: { openAPIV3Schema: readSchema(given, `${path}.schema.openAPIV3Schema`) },
    }),
  }
}

function objectAt(value: unknown, path: string): JsonObject {
  return isObject(value) ? value : fail(path, 'must be an object')
}

function omit(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}
