import type { JsonObject } from '@coxswain/apimachinery/json'
import { createSeededRandom, encodeText, silentLogger, VirtualWorld } from '@coxswain/kit'
import { describeOperator, type Operator } from '@coxswain/runtime'
import { type Cluster, type ControllerSelector, startCluster } from '@coxswain/testing'
import { enterWorld } from '../node/global-world.ts'
import { RunLog } from '../world/run-log.ts'
import { OutsideServices } from '../world/services.ts'
import { deleteObjects } from './delete-objects.ts'
import type { ManifestObject } from './manifest-object.ts'
import { type PlannedWrite, WriteRecorder } from './write-recorder.ts'

/** An object of the cluster, and where the API serves it. */
export interface KnownObject {
  readonly group: string
  readonly resource: string
  readonly object: JsonObject
}

/** What users do to the objects of the manifests. */
export interface UserChange {
  readonly action: 'apply' | 'delete'
  readonly manifests: readonly ManifestObject[]
}

/** Options of {@link previewChange}. */
export interface PreviewOptions {
  readonly operators: readonly Operator[]
  /** What is in the cluster, as far as it matters to them. */
  readonly objects: readonly KnownObject[]
  /** CustomResourceDefinitions of kinds that the operators do not define themselves. */
  readonly definitions: readonly ManifestObject[]
  /** The time at which the change is made, in milliseconds since the epoch. */
  readonly now: number
  /** @default nothing: what the operators do to the cluster as it is */
  readonly change?: UserChange
  /** How far to look ahead, in virtual milliseconds. @default an hour */
  readonly horizon?: number
}

/** A request to a service outside of the cluster. It was answered by a stand-in. */
export interface OutsideCall {
  /** Milliseconds since the change, or since the start without one. */
  readonly time: number
  readonly method: string
  /** Without query and fragment, which may hold credentials. */
  readonly url: string
}

/** What operators would do. */
export interface Preview {
  /** Writes that the operators would make without the change, too. */
  readonly before: readonly PlannedWrite[]
  /** Writes after the change, in order. */
  readonly after: readonly PlannedWrite[]
  /** What they would ask services outside of the cluster after the change, in order. Nothing was sent. */
  readonly outside: readonly OutsideCall[]
  /** Whether they had come to rest at the end. */
  readonly isSettled: boolean
  /** Milliseconds from the change to the last write; 0 without one. */
  readonly duration: number
}

/** Without a write for this long, operators have come to rest, in virtual milliseconds. They also have this long before the change. */
const quietPeriod = 600_000

/** So many calls of outside services are kept. */
const mostOutsideCalls = 10_000

/** Those that work on the objects of users. The nodes of the cluster are not there: nothing may clean up after them. */
const controllers: readonly ControllerSelector[] = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'disruption-controller',
  'ttl-after-finished-controller',
]

/**
 * Plays a change in a world of its own: an API server with the objects of the cluster, controllers, a node that runs new Pods, and the
 * operators, on a virtual clock. `fetch` of the operators leads to stand-ins, never out of this process. Rejects if the change is not
 * accepted, or if a promise of an operator is rejected without a handler.
 */
export async function previewChange(options: PreviewOptions): Promise<Preview> {
  const { operators, change, horizon = 3_600_000 } = options
  const world = new VirtualWorld({ seed: 1, start: options.now - (change ? quietPeriod : 0) })
  const services = new OutsideServices({
    log: new RunLog([], world.clock),
    clock: world.clock,
    random: createSeededRandom(1),
  })
  const outside: OutsideCall[] = []
  let unhandled: { readonly reason: unknown } | undefined
  using _ = enterWorld({
    clock: world.clock,
    services: {
      send(request, signal) {
        const { origin, pathname } = request.url
        const time = world.clock.now() - options.now
        if (outside.length < mostOutsideCalls)
          outside.push({ time, method: request.method, url: `${origin}${pathname}` })
        return services.send(request, signal)
      },
    },
    onUnhandledRejection: reason => {
      unhandled ??= { reason }
    },
  })
  await using cluster = await startCluster({ env: world, nodes: 1, controllers, log: silentLogger })
  for (const operator of operators) await cluster.install(operator)
  if (options.definitions.length > 0) await cluster.apply(options.definitions.map(withoutServerFields))
  await cluster.run(putObjects(cluster, options.objects))
  await cluster.settle()
  const recorder = new WriteRecorder(world.clock)
  const stops = operators.map(operator =>
    cluster.start(operator, {
      transport: inner =>
        recorder.transport(inner, { hasWebhooks: describeOperator(operator).webhooks.length > 0 }),
      errorEvents: false,
    }),
  )
  await cluster.advance(change ? options.now - world.clock.now() : horizon)
  const before = recorder.take()
  if (change) {
    if (change.action === 'apply') await cluster.apply(change.manifests, { force: true })
    else await cluster.run(deleteObjects(cluster, change.manifests))
    await cluster.advance(horizon)
  }
  const after = recorder.take()
  for (const stop of stops) await stop()
  if (unhandled) throw unhandled.reason
  const duration = (change ? after : before).at(-1)?.time ?? 0
  const isSettled = recorder.idleTime >= Math.min(quietPeriod, horizon / 2)
  return { before, after, outside: outside.filter(({ time }) => time >= 0), isSettled, duration }
}

/** Puts the objects where the server finds them: uids, times and status are those of the cluster. */
async function putObjects(cluster: Cluster, objects: readonly KnownObject[]): Promise<void> {
  const uids = new Set(objects.map(({ object }) => metadataOf(object).uid))
  for (const { group, resource, object } of objects) {
    const { kind, apiVersion, metadata: _, ...rest } = object
    const { resourceVersion: __, ownerReferences, ...metadata } = metadataOf(object)
    // The owners of other kinds are not there: the garbage collector would delete what they own.
    const owners = (Array.isArray(ownerReferences) ? (ownerReferences as JsonObject[]) : []).filter(
      ({ uid }) => uids.has(uid),
    )
    const { namespace, name } = metadata
    const path = namespace === undefined ? String(name) : `${String(namespace)}/${String(name)}`
    const value = {
      kind,
      apiVersion,
      metadata: { ...metadata, ...(owners.length > 0 && { ownerReferences: owners }) },
      ...rest,
    }
    await cluster.store.transact({
      operations: [
        {
          type: 'put',
          key: `/${group === '' ? 'core' : group}/${resource}/${path}`,
          value: encodeText(JSON.stringify(value)),
        },
      ],
    })
  }
}

function metadataOf(object: JsonObject): JsonObject {
  return (object.metadata ?? {}) as JsonObject
}

function withoutServerFields(definition: ManifestObject): ManifestObject {
  const { metadata, status: _, ...rest } = definition as ManifestObject & { readonly status?: unknown }
  return { ...rest, metadata: { name: metadata.name } }
}
