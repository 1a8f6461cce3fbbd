import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import { concatBytes, encodeText } from '@coxswain/kit'
import type { Condition, Operation } from '@coxswain/storage'
import { findUncovered, readRules } from '@coxswain/strategies'
import {
  type BootstrapObject,
  bootstrapAnnotations,
  readBootstrapPolicy,
} from '../authorization/rbac/bootstrap-policy.ts'
import { rbacPrefixes } from '../authorization/rbac/policy.ts'
import { selectServedPolicy } from '../authorization/rbac/served-policy.ts'
import { encodeStored, type StoredObject } from '../cache/stored-object.ts'
import type { StartPorts } from './ports.ts'

/** etcd accepts at most 128 operations per transaction. */
const chunkSize = 100
/** Another server may be doing the same. */
const attempts = 5

/**
 * Creates the default roles and bindings, and adds missing rules, selectors and
 * subjects to existing ones. Additions of an administrator stay, and objects with `autoupdate: "false"` are not changed.
 */
export async function reconcileBootstrapPolicy(
  ports: StartPorts,
  serves: (resource: string) => boolean,
): Promise<void> {
  const policy =
    serves('pods') && serves('nodes')
      ? readStoredPolicy()
      : selectServedPolicy(readBootstrapPolicy(), serves).map(encodePolicy)
  for (let attempt = 1; ; attempt++) {
    const changes = policy.flatMap(wanted => findChange(ports, wanted) ?? [])
    if (changes.length === 0) return
    const isDone = await Promise.all(chunksOf(changes).map(chunk => write(ports, chunk)))
    if (isDone.every(Boolean)) {
      if (!changes.some(({ operation }) => operation.type === 'delete')) return
    } else if (attempt >= attempts) {
      throw new Error('the bootstrap roles kept changing')
    }
  }
}

/** An object of the policy, where it is stored, and the end of its stored form: the same in every cluster. */
interface StoredPolicy {
  readonly object: BootstrapObject
  readonly prefix: string
  readonly key: string
  readonly tail: Uint8Array
}

let storedPolicy: readonly StoredPolicy[] | undefined

/** Encoded once: test suites start thousands of servers in one process. */
function readStoredPolicy(): readonly StoredPolicy[] {
  storedPolicy ??= readBootstrapPolicy().map(encodePolicy)
  return storedPolicy
}

function encodePolicy(object: BootstrapObject): StoredPolicy {
  const { kind, namespace, name } = object
  const prefix = rbacPrefixes[kind]
  const key = prefix + (namespace === '' ? name : `${namespace}/${name}`)
  return { object, prefix, key, tail: encodeText(printTail(object)) }
}

interface Change {
  readonly condition: Condition
  readonly operation: Operation
}

async function write({ store, cache }: StartPorts, changes: readonly Change[]): Promise<boolean> {
  const { committed, revision } = await store.transact({
    conditions: changes.map(({ condition }) => condition),
    operations: changes.map(({ operation }) => operation),
  })
  await cache.waitFor(revision)
  return committed
}

function chunksOf(changes: readonly Change[]): Change[][] {
  const chunks: Change[][] = []
  for (let at = 0; at < changes.length; at += chunkSize) chunks.push(changes.slice(at, at + chunkSize))
  return chunks
}

/** Undefined when nothing has to change. A binding to another role is deleted, and created in the next round. */
function findChange(
  ports: StartPorts,
  { object: wanted, prefix, key, tail }: StoredPolicy,
): Change | undefined {
  const stored = ports.cache.resource(prefix).get(key)
  if (!stored)
    return {
      condition: { key, modRevision: 0 },
      operation: { type: 'put', key, value: printObject(ports, wanted, tail) },
    }
  if (stored.endsWith(tail)) return undefined
  const condition = { key, modRevision: stored.revision }
  const object = stored.parse()
  const metadata = object.metadata as { readonly annotations?: JsonObject }
  if (metadata.annotations?.['rbac.authorization.kubernetes.io/autoupdate'] === 'false') return undefined
  if (wanted.roleRef && !deepEqual(wanted.roleRef, object.roleRef))
    return { condition, operation: { type: 'delete', key } }
  const value = updateObject(object, stored, wanted)
  return value && { condition, operation: { type: 'put', key, value } }
}

/** The stored form from the labels on, which is the same in every cluster. */
function printTail({ labels, rules, aggregationRule, roleRef, subjects = [] }: BootstrapObject): string {
  const rest = {
    ...(rules && { rules: rules.length > 0 ? rules : null }),
    ...(aggregationRule && { aggregationRule }),
    ...(subjects.length > 0 && { subjects }),
    ...(roleRef && { roleRef }),
  }
  const labelled = `"labels":${JSON.stringify(labels)},"annotations":${JSON.stringify(bootstrapAnnotations)}}`
  return `${labelled},${JSON.stringify(rest).slice(1)}`
}

/** The same form as `encodeStored`; a start writes many of these. */
function printObject(
  { env }: StartPorts,
  { kind, namespace, name }: BootstrapObject,
  tail: Uint8Array,
): Uint8Array {
  const place = namespace === '' ? '' : `"namespace":"${namespace}",`
  const made = `"uid":"${env.random.uuid()}","creationTimestamp":"${formatTime(env.clock.now())}"`
  const head = `{"kind":"${kind}","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"${name}",${place}${made},`
  return concatBytes([encodeText(head), tail])
}

/** The bytes to store; undefined when they are stored already. */
function updateObject(
  object: JsonObject,
  stored: StoredObject,
  wanted: BootstrapObject,
): Uint8Array | undefined {
  const metadata = object.metadata as JsonObject
  metadata.labels = withMissing(metadata.labels, wanted.labels)
  metadata.annotations = withMissing(metadata.annotations, bootstrapAnnotations)
  if (wanted.rules) {
    const present = readRules(object)
    const { pieces, truncated } = findUncovered(present, wanted.rules)
    const missing = truncated ? wanted.rules : pieces
    if (missing.length > 0) object.rules = [...present, ...missing]
    updateAggregation(object, wanted)
  }
  if (wanted.subjects) {
    const present = (object.subjects ?? []) as JsonObject[]
    const missing = wanted.subjects.filter(subject => !present.some(one => deepEqual(one, subject)))
    if (missing.length > 0) object.subjects = [...present, ...missing]
  }
  const bytes = encodeStored(object)
  return stored.hasBytes(bytes) ? undefined : bytes
}

function withMissing(present: unknown, wanted: Readonly<Record<string, string>>): JsonObject {
  const values = { ...(present as Record<string, string> | undefined) }
  for (const [key, value] of Object.entries(wanted)) values[key] ??= value
  return values
}

function updateAggregation(object: JsonObject, { aggregationRule }: BootstrapObject): void {
  if (!aggregationRule) {
    delete object.aggregationRule
    return
  }
  const selectorsOf = (rule: unknown) =>
    ((rule as JsonObject | undefined)?.clusterRoleSelectors ?? []) as JsonObject[]
  const present = selectorsOf(object.aggregationRule)
  const missing = selectorsOf(aggregationRule).filter(one => !present.some(other => deepEqual(one, other)))
  if (missing.length > 0) object.aggregationRule = { clusterRoleSelectors: [...present, ...missing] }
}
