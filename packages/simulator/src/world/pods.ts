import { Pod } from '@coxswain/api/core/v1'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { defineOperator, type Operator, type ReconcileContext, requeueAfter } from '@coxswain/runtime'
import { describeFault } from '../fault.ts'
import type { RunLog } from './run-log.ts'

/** How long a Pod takes to start, to end its work, and to stop, in milliseconds. */
const startTime = 800
const workTime = 3_000
const stopTime = 1_000
const slowStartTime = 60_000

/**
 * What a scheduler and kubelets would do with Pods, in few steps: they get a node, run, end unless they are restarted always, and stop
 * when they are deleted. Faults make single Pods slow, crash, or leave.
 */
export function createSimulatedPods(log: RunLog): Operator {
  return defineOperator('simulated-pods', operator => {
    const numbers = new Map<string, number>()
    const numberOf = (uid: string): number => {
      const number = numbers.get(uid) ?? numbers.size + 1
      numbers.set(uid, number)
      log.pods = Math.max(log.pods, number)
      return number
    }
    operator
      .controller('simulated-pods')
      .for(Pod)
      .options({ concurrency: 10 })
      .reconcile(context => advance(context, { log, numberOf }).catch(retryRace))
  })
}

/** Tries again at once what another client has changed meanwhile. */
function retryRace(error: unknown): ReturnType<typeof requeueAfter> {
  if (isConflict(error) || isNotFound(error)) return requeueAfter(10)
  throw error
}

interface PodPorts {
  readonly log: RunLog
  readonly numberOf: (uid: string) => number
}

async function advance({ client, clock, key }: ReconcileContext, { log, numberOf }: PodPorts) {
  const pod = await client.get(Pod, key)
  if (!pod) return
  const { metadata, spec, status } = pod
  const now = clock.now()
  if (metadata.deletionTimestamp) {
    const grace = (metadata.deletionGracePeriodSeconds ?? 0) * 1_000
    const left = Date.parse(metadata.deletionTimestamp) - grace + stopTime - now
    if (left > 0) return requeueAfter(left)
    await client.delete(Pod, key, { gracePeriodSeconds: 0 })
    return
  }
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return
  const number = numberOf(metadata.uid)
  if (!spec.nodeName) {
    const { name, namespace = '', uid } = metadata
    await client.direct.subresource(Pod, { name, namespace }, 'binding').create({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: `node-${1 + (number % 2)}` },
    })
    return
  }
  const fault = log.find('pod', ({ pod: which }) => which === number)
  const age = now - Date.parse(metadata.creationTimestamp)
  const strike = () => {
    if (fault && log.strike(each => each === fault).length > 0) log.note(describeFault(fault, String))
  }
  if (status?.phase !== 'Running') {
    const wait = fault?.becomes === 'slow' ? slowStartTime : startTime
    if (fault?.becomes === 'slow') strike()
    if (age < wait) return requeueAfter(wait - age)
    const isReady = fault?.becomes !== 'never-ready'
    if (!isReady) strike()
    await client.updateStatus(Pod, { ...pod, status: { ...status, ...running(pod, { now, isReady }) } })
    return
  }
  if (fault?.becomes === 'evicted' && age >= 2 * startTime) {
    strike()
    const evicted = {
      phase: 'Failed' as const,
      reason: 'Evicted',
      message: 'The node was low on resource: memory.',
    }
    await client.updateStatus(Pod, { ...pod, status: { ...status, ...evicted } })
    return
  }
  if (log.find('lose-node', ({ pod: which }) => which === number) && age >= 2 * startTime) {
    await loseNode({ client }, spec.nodeName, log)
    return
  }
  const isCrashed = fault?.becomes === 'crashed'
  if (spec.restartPolicy === 'Always' && !isCrashed)
    return age < 2 * startTime ? requeueAfter(2 * startTime - age) : undefined
  if (age < startTime + workTime) return requeueAfter(startTime + workTime - age)
  if (spec.restartPolicy === 'Always') {
    strike()
    if ((status.containerStatuses?.[0]?.restartCount ?? 0) > 0) return
    const statuses = status.containerStatuses?.map(each => ({ ...each, restartCount: 1 })) ?? []
    await client.updateStatus(Pod, { ...pod, status: { ...status, containerStatuses: statuses } })
    return
  }
  if (isCrashed) strike()
  const phase = isCrashed && spec.restartPolicy === 'Never' ? ('Failed' as const) : ('Succeeded' as const)
  await client.updateStatus(Pod, { ...pod, status: { ...status, phase } })
}

function running(
  {
    spec,
  }: {
    readonly spec: { readonly containers: readonly { readonly name: string; readonly image?: string }[] }
  },
  { now, isReady }: { readonly now: number; readonly isReady: boolean },
) {
  const time = formatTime(now)
  const state = isReady ? ('True' as const) : ('False' as const)
  return {
    phase: 'Running' as const,
    startTime: time,
    conditions: ['Ready', 'ContainersReady'].map(type => ({ type, status: state, lastTransitionTime: time })),
    containerStatuses: spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      imageID: image,
      ready: isReady,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: time } },
    })),
  }
}

/** Deletes the Pods of a node, as pod garbage collection does once the Node is deleted. */
async function loseNode(
  { client }: Pick<ReconcileContext, 'client'>,
  node: string,
  log: RunLog,
): Promise<void> {
  const [fault] = log.strike(each => each.fault === 'lose-node')
  if (!fault) return
  log.note(describeFault(fault, String))
  const { items } = await client.list(Pod, {})
  for (const { metadata, spec } of items) {
    if (spec.nodeName !== node) continue
    const key = { name: metadata.name, namespace: metadata.namespace ?? '' }
    await client.delete(Pod, key, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}
