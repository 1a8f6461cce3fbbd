import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  createAttributes,
  deleteOptionsObject,
  type RequestAttributes,
} from '../admission/create-attributes.ts'
import { serveOne } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import type { DeleteOptions } from '../request/write-options.ts'
import { checkPreconditions } from './checks.ts'
import { metadataOf } from './metadata.ts'
import type { WritePorts } from './ports.ts'
import type { Admitted } from './write.ts'

/** The user who deletes an object, and the rest of their request. */
export type Deleter = Pick<ResourceContext, 'user'> & Partial<ResourceContext>

/** What a deletion needs of the server. */
export type DeletePorts = Pick<WritePorts, 'env' | 'store' | 'cache' | 'admission'>

/** An object to delete. */
export interface DeletionRequest {
  readonly context: Deleter
  readonly endpoint: Endpoint
  readonly namespace: string
  readonly name: string
  readonly options: DeleteOptions
}

/** One attempt to delete an object; the steps of its pipeline read and change it. */
export interface Deletion extends Admitted<Deletion>, DeletionRequest {
  readonly ports: DeletePorts
  /** The present object as stored; `object` is the same in the endpoint's version. */
  readonly old: JsonObject
  /** The object marked for deletion, while it waits for its finalizers or its grace period; undefined when nothing holds it. */
  marked: JsonObject | undefined
}

export function createDeletion(ports: DeletePorts, request: DeletionRequest, old: JsonObject): Deletion {
  return {
    ...request,
    ports,
    describe: describeDeletion,
    old,
    object: old,
    attributes: undefined,
    generated: false,
    marked: undefined,
  }
}

function describeDeletion(deletion: Deletion): RequestAttributes {
  const { ports, context, endpoint, namespace, object, options } = deletion
  return createAttributes(context, endpoint, {
    server: ports.admission.server,
    operation: 'DELETE',
    subresource: '',
    namespace,
    object: undefined,
    oldObject: object,
    dryRun: options.dryRun,
    options: deleteOptionsObject(options),
  })
}

/** Throws a 409 when the client means another object. */
export function checkDeletion({ endpoint, old, options }: Deletion): void {
  checkPreconditions(endpoint.resource, old, options.preconditions)
}

/** Admission sees the object in the endpoint's version. */
export function convertDeleted(deletion: Deletion): Promise<void> | void {
  const served = serveOne(deletion.endpoint, deletion.old)
  if (!(served instanceof Promise)) {
    deletion.object = served
    return
  }
  return served.then(object => {
    deletion.object = object
  })
}

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/** Decides whether the object has to wait, and until when. */
export function markForDeletion(deletion: Deletion): void {
  deletion.marked = mark(deletion)
}

function mark({ ports, endpoint, old, options }: Deletion): JsonObject | undefined {
  const { strategy } = endpoint.resource
  const finalizers = new Set(metadataOf(old).finalizers ?? [])
  const policy = options.propagationPolicy ?? (strategy.propagation === 'orphan' ? 'Orphan' : undefined)
  if (policy !== undefined && strategy.propagation !== 'unsupported') {
    finalizers.delete(orphanFinalizer)
    finalizers.delete(foregroundFinalizer)
    if (policy === 'Orphan') finalizers.add(orphanFinalizer)
    if (policy === 'Foreground') finalizers.add(foregroundFinalizer)
  }
  const isPending = metadataOf(old).deletionTimestamp !== undefined
  // Once it is marked, only an explicit grace period of the client shortens the time.
  const grace = isPending
    ? (options.gracePeriodSeconds ?? metadataOf(old).deletionGracePeriodSeconds ?? 0)
    : (strategy.gracePeriod?.(old, options.gracePeriodSeconds) ?? 0)
  const isGraceful = strategy.gracePeriod !== undefined
  if (finalizers.size === 0 && !isGraceful && !strategy.holdsDeletion?.(old)) return undefined

  const object: JsonObject = { ...old, metadata: { ...metadataOf(old) } }
  const metadata = metadataOf(object)
  if (finalizers.size > 0) metadata.finalizers = [...finalizers]
  const present = metadata.deletionGracePeriodSeconds
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = formatTime(ports.env.clock.now() + grace * 1000)
    metadata.deletionGracePeriodSeconds = grace
    if (metadata.generation !== undefined) metadata.generation++
  } else if (present !== undefined && grace < present) {
    const earlier = Date.parse(metadata.deletionTimestamp) - (present - grace) * 1000
    metadata.deletionTimestamp = formatTime(earlier)
    metadata.deletionGracePeriodSeconds = grace
  }
  strategy.prepareForDelete?.(object)
  return object
}
