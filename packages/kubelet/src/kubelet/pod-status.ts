import type {
  ContainerState,
  ContainerStatus,
  PodCondition,
  PodStatus,
  VolumeMount,
  VolumeMountStatus,
} from '@coxswain/api/core/v1'
import { type DeepReadonly, findStatusCondition } from '@coxswain/apimachinery/meta'
import { isTerminalPhase, keepTransitionTime, type PodView } from '@coxswain/kinds'
import { type ContainerRecord, hasSucceeded, isTerminated } from './container-record.ts'
import { isRestarted } from './restart-policy.ts'

function isInitialized(records: readonly ContainerRecord[]): boolean {
  return records.every(record => {
    if (record.role === 'init') return hasSucceeded(record)
    return record.role !== 'sidecar' || record.started
  })
}

type Phase = NonNullable<PodStatus['phase']>

/** The phase of a Pod, as the kubelet derives it from its containers. */
export function phaseOf(pod: PodView, records: readonly ContainerRecord[]): Phase {
  const inits = records.filter(({ role }) => role === 'init')
  const mains = records.filter(({ role }) => role === 'main')
  const hasFailedInit = inits.some(
    record => isTerminated(record) && !hasSucceeded(record) && !isRestarted(pod, record),
  )
  if (hasFailedInit) return 'Failed'
  const hasBegun = mains.some(
    ({ state, lastState }) => state.running || state.terminated || lastState?.terminated,
  )
  if (!hasBegun && !isInitialized(records)) return 'Pending'
  if (mains.some(({ state, lastState }) => state.waiting && !lastState?.terminated)) return 'Pending'
  // A Pod is terminal only when its sidecars have ended as well.
  const hasSidecar = records.some(({ role, state }) => role === 'sidecar' && state.running)
  if (hasSidecar || !haveMainsEnded(pod, records)) return 'Running'
  return mains.every(hasSucceeded) ? 'Succeeded' : 'Failed'
}

/** Whether only sidecars may still run. */
export function haveMainsEnded(pod: PodView, records: readonly ContainerRecord[]): boolean {
  const mains = records.filter(({ role }) => role === 'main')
  return mains.every(record => isTerminated(record) && !isRestarted(pod, record))
}

export interface StatusInput {
  readonly pod: PodView
  readonly records: readonly ContainerRecord[]
  readonly phase: Phase
  readonly hostIP: string
  readonly podIP: string
  /** RFC 3339. */
  readonly now: string
  readonly startTime: string
  readonly isRestartingAll: boolean
  /** Why the node has not applied a resize. */
  readonly resizePending?: { readonly reason: string; readonly message: string }
  readonly reason?: string
  readonly message?: string
  /** The Pod's volumes are mounted and it has an address. */
  readonly isPrepared: boolean
}

const ownConditions: ReadonlySet<string> = new Set([
  'AllContainersRestarting',
  'PodResizePending',
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
])

/** The limit of a Pod's termination messages together, in characters. */
const wordsLimit = 12 * 1024

/** The whole status, conditions in the kubelet's order. `lastTransitionTime` changes only with the condition's status. */
export function makePodStatus(input: StatusInput): PodStatus {
  const { pod, records, phase, hostIP, podIP, now } = input
  const old = pod.status
  const generation = pod.metadata.generation
  const observed = generation !== undefined && { observedGeneration: generation }
  const condition = (type: string, { holds, ...why }: Verdict): PodCondition => {
    const status = holds ? 'True' : 'False'
    const next = { type, ...observed, status, lastProbeTime: null, lastTransitionTime: now, ...why } as const
    return keepTransitionTime(old?.conditions, next)
  }
  const inits = records.filter(({ role }) => role === 'init' || role === 'sidecar')
  const ephemeral = records.filter(({ role }) => role === 'ephemeral')
  const mains = records.filter(({ role }) => role === 'main')
  const isOver = isTerminalPhase(phase)
  const containersReady = readiness(records, phase)
  const gates = pod.spec.readinessGates ?? []
  const others = (old?.conditions ?? []).filter(({ type }) => !ownConditions.has(type))
  const closed = gates.flatMap(({ conditionType }) => {
    const gate = others.find(({ type }) => type === conditionType)
    if (!gate) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    if (gate.status === 'True') return []
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
  })
  const ready: Verdict =
    !containersReady.holds || closed.length === 0
      ? containersReady
      : { holds: false, reason: 'ReadinessGatesNotReady', message: closed.join(', ') }
  const print = (record: ContainerRecord) => printRecord(record, Math.floor(wordsLimit / records.length))
  const scheduled = findStatusCondition(old?.conditions, 'PodScheduled')
  return {
    ...(old as PodStatus | undefined),
    ...observed,
    phase,
    conditions: [
      ...others.map(other => ({ ...other })),
      ...(input.resizePending
        ? [condition('PodResizePending', { holds: true, ...input.resizePending })]
        : []),
      condition('PodReadyToStartContainers', { holds: input.isPrepared && !isOver }),
      condition('Initialized', initialized(records, phase)),
      condition('Ready', ready),
      condition('ContainersReady', containersReady),
      scheduled ? { ...scheduled, ...observed } : condition('PodScheduled', { holds: true }),
      ...(couldRestartAll(pod) ? [condition('AllContainersRestarting', restartingAll(input, phase))] : []),
    ],
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(input.isPrepared && { podIP, podIPs: [{ ip: podIP }] }),
    startTime: input.startTime,
    ...(inits.length > 0 && { initContainerStatuses: inits.map(print) }),
    containerStatuses: mains.map(print).sort(byName),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral.map(print).sort(byName) }),
    ...(input.reason !== undefined && { reason: input.reason }),
    ...(input.message !== undefined && { message: input.message }),
  }
}

interface Verdict {
  readonly holds: boolean
  readonly reason?: string
  readonly message?: string
}

function couldRestartAll({ spec }: PodView): boolean {
  return [...(spec.initContainers ?? []), ...spec.containers].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  )
}

function restartingAll({ isRestartingAll }: StatusInput, phase: Phase): Verdict {
  if (phase === 'Succeeded') return { holds: false, reason: 'PodCompleted' }
  if (phase === 'Failed') return { holds: false, reason: 'PodFailed' }
  if (!isRestartingAll) return { holds: false }
  const message = 'container exited with restart policy rule'
  return { holds: true, reason: 'RestartAllContainersStarted', message }
}

function namesOf(records: readonly ContainerRecord[]): string {
  return records.map(({ container }) => container.name).join(' ')
}

function initialized(records: readonly ContainerRecord[], phase: Phase): Verdict {
  if (phase === 'Succeeded') return { holds: true, reason: 'PodCompleted' }
  const waiting = records.filter(
    record =>
      (record.role === 'init' && !hasSucceeded(record)) || (record.role === 'sidecar' && !record.started),
  )
  if (waiting.length === 0 || phase === 'Running') return { holds: true }
  return {
    holds: false,
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${namesOf(waiting)}]`,
  }
}

function readiness(records: readonly ContainerRecord[], phase: Phase): Verdict {
  if (phase === 'Succeeded') return { holds: false, reason: 'PodCompleted' }
  if (phase === 'Failed') return { holds: false, reason: 'PodFailed' }
  const unready = records.filter(({ role, ready }) => (role === 'main' || role === 'sidecar') && !ready)
  if (unready.length === 0) return { holds: true }
  const message = `containers with unready status: [${namesOf(unready)}]`
  return { holds: false, reason: 'ContainersNotReady', message }
}

function byName(a: ContainerStatus, b: ContainerStatus): number {
  return a.name < b.name ? -1 : 1
}

/** `limit` is the longest termination message, in characters. */
function printRecord(record: ContainerRecord, limit: number): ContainerStatus {
  const { container, state, lastState, role } = record
  const isRunning = state.running !== undefined
  const mounts = container.volumeMounts ?? []
  return {
    name: container.name,
    state: shorten(state, limit),
    lastState: shorten(lastState ?? {}, limit),
    ready: role === 'init' ? hasSucceeded(record) : isRunning && record.ready && role !== 'ephemeral',
    restartCount: record.restartCount,
    image: container.image ?? '',
    imageID: record.imageID,
    ...(record.containerID !== undefined && { containerID: record.containerID, ...resourcesOf(record) }),
    ...(role !== 'ephemeral' && { started: isRunning && (role === 'init' || record.started) }),
    ...(record.user && { user: { linux: { ...record.user } } }),
    ...(mounts.length > 0 && { volumeMounts: mounts.map(printMount) }),
  }
}

function shorten(state: ContainerState, limit: number): ContainerState {
  const { terminated } = state
  if (!terminated?.message || terminated.message.length <= limit) return state
  return { terminated: { ...terminated, message: terminated.message.slice(0, limit) } }
}

/** Recursive read-only mounts are not supported. */
function printMount({ name, mountPath, readOnly }: DeepReadonly<VolumeMount>): VolumeMountStatus {
  return { name, mountPath, ...(readOnly && { readOnly, recursiveReadOnly: 'Disabled' }) }
}

/** The allocated resources of a container. */
function resourcesOf({ container }: ContainerRecord): Partial<ContainerStatus> {
  const { requests, limits } = container.resources ?? {}
  return {
    ...(requests && { allocatedResources: { ...requests } }),
    resources: { ...(limits && { limits: { ...limits } }), ...(requests && { requests: { ...requests } }) },
  }
}
