import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodIdentity, RunningContainer } from '../container-runtime.ts'
import { type ContainerRecord, partOf } from './container-record.ts'
import { makeContainerSpec } from './container-spec.ts'
import { ConfigError, makeEnvironment } from './environment.ts'
import type { WorkerContext } from './worker-context.ts'

export interface Launch {
  readonly identity: PodIdentity
  /** With its addresses on this node, even if its status has not been written yet. */
  readonly pod: () => DeepReadonly<Pod>
  readonly record: ContainerRecord
  readonly attempt: number
  readonly signal: AbortSignal
}

export type LaunchResult =
  | { readonly type: 'running'; readonly handle: RunningContainer; readonly imageID: string }
  /** Something is missing. `retryAfter`, where known, is in milliseconds. */
  | {
      readonly type: 'waiting'
      readonly reason: string
      readonly message: string
      readonly retryAfter?: number
    }
  | { readonly type: 'failed'; readonly message: string; readonly imageID: string }
  | { readonly type: 'aborted' }

/** Image -> environment -> container. Never rejects. */
export async function launchContainer(launch: Launch, context: WorkerContext): Promise<LaunchResult> {
  const { record, signal, identity, attempt } = launch
  const { container, role } = record
  const { images, runtime, events, services, sourcesOf, filesOf } = context
  const pod = launch.pod()
  let imageID = ''
  try {
    const pulled = await images.pull(pod, record, events, signal)
    if (!pulled.ok) {
      const { reason, message, retryAfter } = pulled
      return { type: 'waiting', reason, message, retryAfter }
    }
    imageID = pulled.id
    const variables = await makeEnvironment(pod, container, sourcesOf(pod), await services(pod))
    const files = await filesOf?.(pod)
    signal.throwIfAborted()
    const spec = { ...makeContainerSpec(pod, container, role, variables), ...(files && { files }) }
    return {
      type: 'running',
      handle: await runtime.startContainer({ ...spec, pod: identity, attempt }, signal),
      imageID,
    }
  } catch (error) {
    if (signal.aborted) return { type: 'aborted' }
    const message = error instanceof Error ? error.message : String(error)
    events.warning(partOf(pod, record), 'Failed', `Error: ${message}`)
    if (!(error instanceof ConfigError)) return { type: 'failed', message, imageID }
    return { type: 'waiting', reason: 'CreateContainerConfigError', message }
  }
}
