import { Event, Pod } from '@coxswain/api/core/v1'
import type { KindOf } from '@coxswain/apimachinery/kinds'
import { isStatusError } from '@coxswain/apimachinery/status'
import { type DynamicObject, readLog } from '@coxswain/client'
import { containerStatusesOf, isPodReady, podCondition, podSelectorOf } from '@coxswain/kinds'
import { callOptions, type DeployTarget } from './target.ts'

/** How many Pods, events and lines of a log are shown. */
const mostPods = 3
const mostEvents = 3
const mostLines = 5

/** Why a workload is not ready: one line for each cause that the cluster knows. Empty when it knows none. */
export async function whyNotReady(target: DeployTarget, workload: DynamicObject): Promise<string[]> {
  try {
    return await findReasons(target, workload)
  } catch (error) {
    if (!isStatusError(error)) throw error
    return [`the reasons cannot be read: ${error.message}`]
  }
}

async function findReasons(target: DeployTarget, workload: DynamicObject): Promise<string[]> {
  const { namespace = '' } = workload.metadata
  const labelSelector = podSelectorOf(workload as { spec?: { selector?: unknown } }).toString()
  const call = callOptions(target)
  const { items } = await target.client.list(Pod, { ...call, namespace, labelSelector })
  const unready = items
    .filter(pod => !isPodReady(pod) && pod.status?.phase !== 'Succeeded')
    .sort((a, b) => (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''))
  const ofPods = await Promise.all(unready.slice(0, mostPods).map(pod => podReasons(target, pod)))
  return [...failedConditions(workload), ...ofPods.flat()]
}

async function podReasons(target: DeployTarget, pod: PodObject): Promise<string[]> {
  const about = `pod ${pod.metadata.name}:`
  const events = await lastEvents(target, pod)
  const logs = await Promise.all(failing(pod).map(container => lastLines(target, pod, container)))
  return [...[...podProblems(pod), ...events].map(line => `${about} ${line}`), ...logs.flat()]
}

/** What the controller of the workload says, such as Pods that may not be created. */
function failedConditions({ status }: DynamicObject): string[] {
  const { conditions = [] } = (status ?? {}) as {
    conditions?: readonly { type: string; status: string; reason?: string; message?: string }[]
  }
  return conditions
    .filter(({ type, status: value }) => type === 'ReplicaFailure' && value === 'True')
    .map(({ reason, message }) => `${reason}: ${message}`)
}

type PodObject = KindOf<typeof Pod>

function podProblems(pod: PodObject): string[] {
  const scheduled = podCondition(pod, 'PodScheduled')
  if (scheduled?.status === 'False') return [`${scheduled.reason}: ${scheduled.message}`]
  const statuses = containerStatusesOf(pod)
  if (statuses.length === 0) return [`${pod.status?.phase ?? 'Pending'}, and no container has been started`]
  return statuses.flatMap(({ name, state, lastState, ready }) => {
    if (ready) return []
    const { reason, message } = state?.waiting ?? {}
    const ended = state?.terminated ?? lastState?.terminated
    const exit = ended === undefined ? '' : ` (exit code ${ended.exitCode})`
    if (reason) return [`container ${name}: ${reason}${message ? `: ${message}` : ''}${exit}`]
    if (state?.terminated) return [`container ${name}: ${ended?.reason ?? 'terminated'}${exit}`]
    return [`container ${name}: is running, but not ready`]
  })
}

async function lastEvents(target: DeployTarget, { metadata }: PodObject): Promise<string[]> {
  const fieldSelector = `involvedObject.uid=${metadata.uid},type=Warning`
  const namespace = metadata.namespace ?? ''
  const { items } = await target.client.list(Event, { ...callOptions(target), namespace, fieldSelector })
  const timeOf = ({ lastTimestamp, eventTime }: KindOf<typeof Event>) => lastTimestamp ?? eventTime ?? ''
  return items
    .sort((a, b) => timeOf(a).localeCompare(timeOf(b)))
    .slice(-mostEvents)
    .map(({ reason, message }) => `${reason}: ${(message ?? '').trim()}`)
}

/** The containers that run without being ready, or ended. */
function failing(pod: PodObject): string[] {
  return containerStatusesOf(pod)
    .filter(
      ({ ready, state, lastState }) =>
        !ready && (state?.running ?? state?.terminated ?? lastState?.terminated),
    )
    .map(({ name }) => name)
}

/** The last lines that a container wrote; why they cannot be read when the server says so. */
async function lastLines(target: DeployTarget, pod: PodObject, container: string): Promise<string[]> {
  const key = { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name }
  const about = `pod ${key.name}: log of ${container}:`
  try {
    const lines: string[] = []
    for await (const line of readLog(target.client, key, {
      container,
      tailLines: mostLines,
      ...callOptions(target),
    }))
      lines.push(`${about} ${line}`)
    return lines
  } catch (error) {
    if (!isStatusError(error)) throw error
    return [`${about} cannot be read: ${error.message}`]
  }
}
