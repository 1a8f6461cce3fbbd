import { boolType, type CelType, dynType, intType, listOf, mapOf, stringType } from '@coxswain/cel'

/** An object type that expressions may read but not write. */
function objectOf(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return {
    kind: 'object',
    name,
    params: [],
    fields: field => (Object.hasOwn(fields, field) ? fields[field] : undefined),
  }
}

const timestampType: CelType = { kind: 'timestamp', name: 'google.protobuf.Timestamp', params: [] }
const texts = listOf(stringType)

const kindType = objectOf('kubernetes.GroupVersionKind', {
  group: stringType,
  version: stringType,
  kind: stringType,
})

const resourceType = objectOf('kubernetes.GroupVersionResource', {
  group: stringType,
  version: stringType,
  resource: stringType,
})

const userInfoType = objectOf('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: texts,
  extra: mapOf(stringType, texts),
})

/** `request`: an AdmissionRequest without the objects, which are variables of their own. */
export const requestType: CelType = objectOf('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: userInfoType,
  dryRun: boolType,
  options: dynType,
})

const conditionType = objectOf('kubernetes.NamespaceCondition', {
  status: stringType,
  type: stringType,
  lastTransitionTime: timestampType,
  message: stringType,
  reason: stringType,
})

/** `namespaceObject`: the parts of a namespace that expressions get to see. */
export const namespaceType: CelType = objectOf('kubernetes.Namespace', {
  metadata: objectOf('kubernetes.NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: mapOf(stringType, stringType),
    annotations: mapOf(stringType, stringType),
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: texts,
  }),
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: texts }),
  status: objectOf('kubernetes.NamespaceStatus', { conditions: listOf(conditionType), phase: stringType }),
})

export const resourceCheckType: CelType = {
  kind: 'opaque',
  name: 'kubernetes.authorization.ResourceCheck',
  params: [],
}

/** The type of `variables`, whose fields are those compiled so far. */
export function variablesType(types: ReadonlyMap<string, CelType>): CelType {
  return { kind: 'object', name: 'kubernetes.variables', params: [], fields: name => types.get(name) }
}

const plainKinds = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
])

/** What other expressions see of a variable: lists, maps and plain values keep their types. */
export function visibleType(type: CelType): CelType {
  if (plainKinds.has(type.kind)) return type
  const [first, second] = type.params
  if (type.kind === 'list' && first) return listOf(visibleType(first))
  if (type.kind === 'map' && first && second) return mapOf(visibleType(first), visibleType(second))
  return dynType
}
