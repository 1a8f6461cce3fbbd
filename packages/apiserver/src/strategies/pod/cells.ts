import { maxOf } from '@coxswain/kit'
import { formatAge, formatHumanDuration } from '../../handlers/age.ts'
import type { JsonObject } from '../../json.ts'
import { listOf, objectOf, textOf } from './validation/reading.ts'

interface ContainerStatus {
  readonly name?: string
  readonly ready?: boolean
  readonly started?: boolean
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string }
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly signal?: number }
    readonly running?: object
  }
  readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } }
}

/** What a pod's containers come to: the words and numbers of its row. */
interface Summary {
  readonly reason: string
  readonly ready: number
  readonly restarts: number
  /** Milliseconds; 0 when nothing has restarted. */
  readonly lastRestart: number
}

/** A pod's row: what `kubectl get pods` shows. */
export function printPod(object: JsonObject, now: number): readonly unknown[] {
  const metadata = objectOf(object.metadata)
  const spec = objectOf(object.spec)
  const status = objectOf(object.status)
  const { reason, ready, restarts, lastRestart } = summarize(metadata, spec, status)
  const total = listOf(spec.containers).length + sidecarsOf(spec).size
  return [
    textOf(metadata.name),
    `${ready}/${total}`,
    reason,
    restarts > 0 && lastRestart > 0
      ? `${restarts} (${formatHumanDuration(now - lastRestart)} ago)`
      : String(restarts),
    formatAge(metadata.creationTimestamp as string | undefined, now),
    textOf(listOf(status.podIPs)[0]?.ip) || '<none>',
    textOf(spec.nodeName) || '<none>',
    textOf(status.nominatedNodeName) || '<none>',
    readinessGatesCell(spec, status),
  ]
}

const sidecarsOf = (spec: JsonObject): Set<string> =>
  new Set(
    listOf(spec.initContainers)
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => textOf(name)),
  )

const hasCondition = (status: JsonObject, type: string): boolean =>
  listOf(status.conditions).some(condition => condition.type === type && condition.status === 'True')

const countRestarts = (statuses: readonly ContainerStatus[]): number =>
  statuses.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)

const lastRestartOf = (statuses: readonly ContainerStatus[]): number =>
  Math.max(
    0,
    maxOf(statuses.map(({ lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? '') || 0)),
  )

function summarize(metadata: JsonObject, spec: JsonObject, status: JsonObject): Summary {
  const gated = listOf(status.conditions).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  const phase = textOf(status.phase)
  const sidecars = sidecarsOf(spec)
  const initStatuses = listOf(status.initContainerStatuses) as ContainerStatus[]
  const initializing = initReason(initStatuses, sidecars, listOf(spec.initContainers).length)
  const beginning = gated ? 'SchedulingGated' : textOf(status.reason) || phase
  let reason = initializing ?? beginning
  let counted = initStatuses
  let ready = initStatuses.filter(
    ({ name, started, ready: isReady }) => sidecars.has(name ?? '') && started && isReady,
  ).length
  if (initializing === undefined || hasCondition(status, 'Initialized')) {
    const statuses = listOf(status.containerStatuses) as ContainerStatus[]
    counted = [...initStatuses.filter(({ name }) => sidecars.has(name ?? '')), ...statuses]
    ready += statuses.filter(isRunning).length
    reason = containersReason(reason, statuses, hasCondition(status, 'Ready'))
  }
  if (metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') reason = 'Unknown'
    else if (phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating'
  }
  return { reason, ready, restarts: countRestarts(counted), lastRestart: lastRestartOf(counted) }
}

/** Why a pod's init containers are not done; undefined when they are. */
function initReason(
  statuses: readonly ContainerStatus[],
  sidecars: ReadonlySet<string>,
  total: number,
): string | undefined {
  for (const [index, { name, state, started }] of statuses.entries()) {
    const { terminated, waiting } = state ?? {}
    if (terminated && !terminated.exitCode) continue
    if (sidecars.has(name ?? '') && started) continue
    if (terminated) return `Init:${endReason(terminated)}`
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
    return `Init:${index}/${total}`
  }
  return undefined
}

type Termination = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

const endReason = ({ reason, signal, exitCode = 0 }: Termination): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`)

const isRunning = ({ state, ready }: ContainerStatus): boolean => Boolean(ready && state?.running)

/** The first container with something to say decides; one that has ended well while another runs does not. */
function containersReason(
  beginning: string,
  statuses: readonly ContainerStatus[],
  isPodReady: boolean,
): string {
  let reason = beginning
  let failure = ''
  for (const { state } of statuses.toReversed()) {
    const { waiting, terminated } = state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated) {
      reason = endReason(terminated)
      if (terminated.exitCode) failure = reason
    }
  }
  if (reason !== 'Completed') return reason
  const running = statuses.some(container => !hasSpoken(container) && isRunning(container))
  if (running && isPodReady) return 'Running'
  if (failure !== '') return failure
  return running ? 'NotReady' : reason
}

const hasSpoken = ({ state }: ContainerStatus): boolean =>
  Boolean(state?.waiting?.reason || state?.terminated)

function readinessGatesCell(spec: JsonObject, status: JsonObject): string {
  const gates = listOf(spec.readinessGates)
  if (gates.length === 0) return '<none>'
  const met = gates.filter(({ conditionType }) => {
    const condition = listOf(status.conditions).find(({ type }) => type === conditionType)
    return condition?.status === 'True'
  })
  return `${met.length}/${gates.length}`
}
