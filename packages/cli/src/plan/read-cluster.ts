import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@coxswain/api/apps/v1'
import { CronJob, Job } from '@coxswain/api/batch/v1'
import { Namespace, Pod } from '@coxswain/api/core/v1'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { definedKindOf, type Kind } from '@coxswain/apimachinery/kinds'
import { isForbidden, isNotFound } from '@coxswain/apimachinery/status'
import { isMachineryError } from '@coxswain/apimachinery/wire-format'
import { type Client, createDiscovery } from '@coxswain/client'
import type { Manifest } from '@coxswain/project/deploy'
import type { OperatorDefinition, RecordedCall } from '@coxswain/runtime'
import type { KnownObject, ManifestObject } from '@coxswain/simulator'
import { CommandError } from '../exit.ts'

export interface ReadClusterOptions {
  readonly definitions: readonly OperatorDefinition[]
  /** The rights of rbac.lock.json: what operators read besides what they watch. */
  readonly calls: readonly RecordedCall[]
  readonly manifests: readonly Manifest[]
  /** For objects that name none. */
  readonly namespace: string
}

/** What a plan needs to know of a cluster. */
export interface ReadCluster {
  readonly objects: readonly KnownObject[]
  readonly definitions: readonly ManifestObject[]
  /** Those of the change, with their namespaces. */
  readonly manifests: readonly ManifestObject[]
  readonly warnings: readonly string[]
}

/** What the controllers of a kind create: without it they would create it anew. */
const companions: readonly (readonly [Kind, readonly Kind[]])[] = [
  [CronJob, [Job]],
  [Deployment, [ReplicaSet]],
  [StatefulSet, [ControllerRevision, Pod]],
  [DaemonSet, [ControllerRevision, Pod]],
  [ReplicaSet, [Pod]],
  [Job, [Pod]],
]

/** Reads, and does nothing but read, the objects of all kinds that matter to the operators and to the change. */
export async function readCluster(client: Client, options: ReadClusterOptions): Promise<ReadCluster> {
  const kinds = new KindSet()
  for (const { controllers, indexes } of options.definitions) {
    for (const { kind, cluster } of controllers.flatMap(({ sources }) => sources))
      if (cluster === undefined) kinds.add(kind, 'required')
    for (const { kind } of indexes) kinds.add(kind, 'required')
  }
  const discovery = createDiscovery(client)
  const own = new Map([...kinds].map(({ kind }) => [`${kind.group}/${kind.version} ${kind.kind}`, kind]))
  const manifests: ManifestObject[] = []
  for (const manifest of options.manifests) {
    const { apiVersion, kind: name, metadata } = manifest
    const known = own.get(`${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`} ${name}`)
    const kind = known ?? (await unlessUnserved(() => discovery.kindOf(apiVersion, name)))
    if (!kind)
      throw new CommandError(`${name} ${metadata.name}: the cluster does not serve ${apiVersion} ${name}`)
    kinds.add(kind, 'required')
    manifests.push(
      kind.namespaced ? { ...manifest, metadata: { namespace: options.namespace, ...metadata } } : manifest,
    )
  }
  for (const { group, resource, verb } of options.calls) {
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') continue
    const kind = await unlessUnserved(() => discovery.kindForResource({ group, resource }))
    if (kind) kinds.add(kind, 'optional')
  }
  for (const [kind, created] of companions)
    if (kinds.has(kind)) for (const each of created) kinds.add(each, 'optional')
  kinds.add(Namespace, 'optional')

  const warnings: string[] = []
  const objects: KnownObject[] = []
  const definitions: ManifestObject[] = []
  for (const { kind, need } of kinds) {
    try {
      const { items } = await client.list(kind)
      for (const object of items) objects.push(knownObject(kind, object as unknown as JsonObject))
      if (!definedKindOf(kind) && kind.group.includes('.')) {
        const name = `${kind.resource}.${kind.group}`
        const definition = kind.group.endsWith('.k8s.io')
          ? undefined
          : await client.get(CustomResourceDefinition, { name })
        if (definition) definitions.push(definition as unknown as ManifestObject)
      }
    } catch (error) {
      if (isNotFound(error)) continue // it is not installed yet
      if (need === 'required' || !isForbidden(error)) throw error
      warnings.push(`${kind.resource} are left out of the plan: ${(error as Error).message}`)
    }
  }
  return { objects: [...objects, ...missingNamespaces(objects, manifests)], definitions, manifests, warnings }
}

/** Kinds, once each. */
class KindSet implements Iterable<KindToRead> {
  readonly #kinds = new Map<string, KindToRead>()

  add(kind: Kind, need: KindToRead['need']): void {
    const key = `${kind.group}/${kind.resource}`
    if (this.#kinds.get(key)?.need !== 'required') this.#kinds.set(key, { kind, need })
  }

  has({ group, resource }: Kind): boolean {
    return this.#kinds.has(`${group}/${resource}`)
  }

  [Symbol.iterator](): Iterator<KindToRead> {
    return [...this.#kinds.values()][Symbol.iterator]()
  }
}

interface KindToRead {
  readonly kind: Kind
  /** Whether a plan without it would be wrong. */
  readonly need: 'required' | 'optional'
}

function knownObject({ group, version, kind, resource }: Kind, object: JsonObject): KnownObject {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { group, resource, object: { ...object, kind, apiVersion } }
}

async function unlessUnserved<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    if (isMachineryError(error, 'NoMatch')) return undefined
    throw error
  }
}

/** Namespaces that cannot be read exist where their objects do. */
function missingNamespaces(
  objects: readonly KnownObject[],
  manifests: readonly ManifestObject[],
): KnownObject[] {
  const namespaceOf = ({ metadata }: { readonly metadata?: unknown }) =>
    (metadata as { readonly namespace?: string }).namespace
  const present = new Set(
    objects
      .filter(({ group, resource }) => group === '' && resource === 'namespaces')
      .map(({ object }) => (object.metadata as JsonObject).name),
  )
  const used = [...objects.map(({ object }) => object), ...manifests].flatMap(each => namespaceOf(each) ?? [])
  return [...new Set(used)]
    .filter(name => !present.has(name) && !/^(?:default|kube-.*)$/.test(name))
    .map(name =>
      knownObject(Namespace, {
        metadata: { name },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      }),
    )
}
