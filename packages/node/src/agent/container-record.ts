import type { Container, ContainerState, Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery'

type ReadonlyPod = DeepReadonly<Pod>

/** What the agent knows of one container. */
export interface ContainerRecord {
  readonly container: DeepReadonly<Container>
  readonly role: 'init' | 'sidecar' | 'main' | 'ephemeral'
  state: ContainerState
  lastState: ContainerState | undefined
  restartCount: number
  imageID: string
  containerID: string | undefined
  /** Its start-up probe has succeeded, or it has none. */
  started: boolean
  ready: boolean
}

export function isTerminated(record: ContainerRecord): boolean {
  return record.state.terminated !== undefined
}

export function hasSucceeded(record: ContainerRecord): boolean {
  return record.state.terminated?.exitCode === 0
}

/** In the order in which they are started. */
export function createRecords(pod: ReadonlyPod, now: string): ContainerRecord[] {
  return [
    ...(pod.spec.initContainers ?? []).map(container =>
      createRecord(pod, container, container.restartPolicy === 'Always' ? 'sidecar' : 'init', now),
    ),
    ...pod.spec.containers.map(container => createRecord(pod, container, 'main', now)),
  ]
}

/**
 * What the Pod's status remembers of a container. One that ran when an earlier agent wrote the status does not run any
 * more: it counts as killed.
 */
export function createRecord(
  pod: ReadonlyPod,
  container: DeepReadonly<Container>,
  role: ContainerRecord['role'],
  now: string,
): ContainerRecord {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {}
  const old = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].find(
    ({ name }) => name === container.name,
  )
  const state = structuredClone((old?.state ?? {}) as ContainerState)
  const lastState = structuredClone(old?.lastState as ContainerState | undefined)
  if (state.running) {
    const startedAt = state.running.startedAt ?? now
    const id = old?.containerID !== undefined && { containerID: old.containerID }
    state.terminated = { exitCode: 137, reason: 'Error', startedAt, finishedAt: now, ...id }
    delete state.running
  }
  const waitsForOthers = (pod.spec.initContainers ?? []).length > 0 && role === 'main'
  const first = waitsForOthers ? 'PodInitializing' : 'ContainerCreating'
  return {
    container,
    role,
    state: Object.keys(state).length > 0 ? state : { waiting: { reason: first } },
    lastState: lastState && Object.keys(lastState).length > 0 ? lastState : undefined,
    restartCount: old?.restartCount ?? 0,
    imageID: old?.imageID ?? '',
    containerID: old?.containerID,
    started: false,
    ready: false,
  }
}
