import { formatAge, formatHumanDuration } from '../../handlers/age.ts'
import { isObject, type JsonObject } from '../../json.ts'

interface ContainerStatus {
  readonly ready?: boolean
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string }
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly signal?: number }
    readonly running?: object
  }
  readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } }
}

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

export function printPod(object: JsonObject, now: number): readonly unknown[] {
  const metadata = object.metadata as { name: string; creationTimestamp?: string; deletionTimestamp?: string }
  const spec = (object.spec ?? {}) as JsonObject
  const status = (object.status ?? {}) as JsonObject
  const statuses = list(status.containerStatuses) as ContainerStatus[]
  const ready = statuses.filter(container => container.ready && container.state?.running).length
  const restarts = statuses.reduce((sum, container) => sum + (container.restartCount ?? 0), 0)
  const lastRestart = Math.max(
    ...statuses.map(container => Date.parse(container.lastState?.terminated?.finishedAt ?? '') || 0),
    0,
  )
  return [
    metadata.name,
    `${ready}/${list(spec.containers).length}`,
    reasonOf(metadata, status, statuses),
    restarts > 0 && lastRestart > 0
      ? `${restarts} (${formatHumanDuration(now - lastRestart)} ago)`
      : String(restarts),
    formatAge(metadata.creationTimestamp, now),
    (list(status.podIPs)[0]?.ip as string | undefined) ?? '<none>',
    (spec.nodeName as string | undefined) || '<none>',
    (status.nominatedNodeName as string | undefined) || '<none>',
    printReadinessGates(spec, status),
  ]
}

function reasonOf(
  metadata: { readonly deletionTimestamp?: string },
  status: JsonObject,
  statuses: readonly ContainerStatus[],
): string {
  let reason = (status.reason || status.phase || 'Unknown') as string
  let running = false
  for (const { state, ready } of statuses.toReversed()) {
    const { waiting, terminated } = state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated) {
      reason =
        terminated.reason ||
        (terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`)
    } else if (ready && state?.running) running = true
  }
  if (reason === 'Completed' && running) {
    const isReady = list(status.conditions).some(
      ({ type, status: value }) => type === 'Ready' && value === 'True',
    )
    reason = isReady ? 'Running' : 'NotReady'
  }
  if (metadata.deletionTimestamp === undefined) return reason
  if (status.reason === 'NodeLost') return 'Unknown'
  return status.phase === 'Succeeded' || status.phase === 'Failed' ? reason : 'Terminating'
}

function printReadinessGates(spec: JsonObject, status: JsonObject): string {
  const gates = list(spec.readinessGates)
  if (gates.length === 0) return '<none>'
  const isTrue = (gate: JsonObject) =>
    list(status.conditions).some(({ type, status: value }) => type === gate.conditionType && value === 'True')
  return `${gates.filter(isTrue).length}/${gates.length}`
}
