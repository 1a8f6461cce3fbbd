import type { Container, ContainerState } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { formatTime } from '@coxswain/apimachinery/time'
import { isSidecar, type PodView } from '@coxswain/kinds'
import type { EventSubject } from '@coxswain/runtime'
import type { ContainerRole, RunningContainer } from '../container-runtime.ts'

/** What the kubelet knows of one container. */
export interface ContainerRecord {
  /** As the node runs it: a resize changes it once the node has accepted it. */
  container: DeepReadonly<Container>
  readonly role: ContainerRole
  state: ContainerState
  lastState: ContainerState | undefined
  restartCount: number
  imageID: string
  containerID: string | undefined
  /** Its startup probe has succeeded, or it has none. */
  started: boolean
  ready: boolean
  /** The user that it runs as, where the runtime reports it. */
  user?: RunningContainer['user']
}

const fields: Readonly<Record<ContainerRole, string>> = {
  init: 'initContainers',
  sidecar: 'initContainers',
  main: 'containers',
  ephemeral: 'ephemeralContainers',
}

/** The involved object of a container's events. */
export function partOf(
  { apiVersion, kind, metadata }: PodView,
  { container, role }: Pick<ContainerRecord, 'container' | 'role'>,
): EventSubject {
  return { apiVersion, kind, metadata, fieldPath: `spec.${fields[role]}{${container.name}}` }
}

export function isTerminated(record: ContainerRecord): boolean {
  return record.state.terminated !== undefined
}

export function hasSucceeded(record: ContainerRecord): boolean {
  return record.state.terminated?.exitCode === 0
}

/** Whether it runs, or has run before. */
export function hasRun({ state, lastState }: ContainerRecord): boolean {
  return (state.running ?? state.terminated ?? lastState?.terminated) !== undefined
}

/** How its last attempt ended, when no other has started. */
export function lastExitOf({ state, lastState }: ContainerRecord): ContainerState['terminated'] {
  return state.terminated ?? (state.waiting && lastState?.terminated)
}

export interface RecordOptions {
  /** RFC 3339. */
  readonly now: string
  /** Containers outlive the kubelet: those that the status reports as running still run. */
  readonly adopts: boolean
}

/** The state of a container whose end was not observed, in the kubelet's words. */
const lostContainer = {
  exitCode: 137,
  reason: 'ContainerStatusUnknown',
  message: 'The container could not be located when the pod was terminated',
}

/** In the order in which they are started. */
export function createRecords(pod: PodView, options: RecordOptions): ContainerRecord[] {
  return [
    ...(pod.spec.initContainers ?? []).map(container =>
      createRecord(pod, container, isSidecar(container) ? 'sidecar' : 'init', options),
    ),
    ...pod.spec.containers.map(container => createRecord(pod, container, 'main', options)),
  ]
}

/**
 * The record of a container from the Pod's status. One that ran when an earlier kubelet wrote the status counts as killed,
 * unless it is adopted.
 */
export function createRecord(
  pod: PodView,
  container: DeepReadonly<Container>,
  role: ContainerRole,
  { now, adopts }: RecordOptions,
): ContainerRecord {
  const old = statusOf(pod, container.name)
  const state = old?.state ? structuredClone(old.state as ContainerState) : {}
  const lastState = old?.lastState ? structuredClone(old.lastState as ContainerState) : {}
  const isAdopted = adopts && state.running !== undefined
  if (state.running && !adopts) {
    const startedAt = state.running.startedAt ?? now
    const id = old?.containerID !== undefined && { containerID: old.containerID }
    state.terminated = { ...lostContainer, startedAt, finishedAt: now, ...id }
    delete state.running
  }
  return {
    container,
    role,
    state: Object.keys(state).length > 0 ? state : firstState(pod),
    lastState: Object.keys(lastState).length > 0 ? lastState : undefined,
    restartCount: old?.restartCount ?? 0,
    imageID: old?.imageID ?? '',
    containerID: old?.containerID,
    started: isAdopted && (old?.started ?? false),
    ready: isAdopted && (old?.ready ?? false),
  }
}

/** The state of a container that has not been started. */
export function firstState({ spec }: PodView): ContainerState {
  const waitsForOthers = (spec.initContainers ?? []).length > 0
  return { waiting: { reason: waitsForOthers ? 'PodInitializing' : 'ContainerCreating' } }
}

function statusOf({ status = {} }: PodView, name: string) {
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = status
  for (const statuses of [initContainerStatuses, containerStatuses, ephemeralContainerStatuses]) {
    const found = statuses?.find(candidate => candidate.name === name)
    if (found) return found
  }
  return undefined
}

/** Saves the current state as the last state before it changes. */
export function keepLastState(record: ContainerRecord): void {
  if (record.state.terminated) record.lastState = record.state
}

/** Records that it runs on the runtime of that name. */
export function noteStart(
  record: ContainerRecord,
  handle: RunningContainer,
  runtime: string,
  startedAt: string,
): void {
  keepLastState(record)
  record.containerID = `${runtime}://${handle.id}`
  record.user = handle.user
  record.state = { running: { startedAt } }
  record.started = !record.container.startupProbe
  record.ready = record.started && !record.container.readinessProbe && !handle.ready
}

/** Records that it has ended, or could not be started. */
export function noteExit(
  record: ContainerRecord,
  exit: NonNullable<ContainerRecord['state']['terminated']>,
  now: number,
): void {
  keepLastState(record)
  record.state = { terminated: { ...exit, finishedAt: formatTime(now) } }
  record.ready = false
  record.started = false
}
