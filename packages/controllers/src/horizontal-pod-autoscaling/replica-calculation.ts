import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { isPodReady, longRunningContainers, type PodView, podCondition, podRequests } from '@coxswain/kinds'
import type { PodMetric, PodMetrics } from './metrics-client.ts'

/** The tolerated deviation of usage from the target: 0.1 is a tenth. */
export interface Tolerances {
  readonly scaleUp: number
  readonly scaleDown: number
}

export interface Situation {
  readonly pods: readonly PodView[]
  readonly currentReplicas: number
  readonly tolerances: Tolerances
  readonly now: number
}

export interface Calculation {
  readonly replicas: number
  /** The average, in milli-units. */
  readonly usage: number
  /** In percent of the request; only for a utilization target. */
  readonly utilization?: number
}

/** CPU usage of a pod younger than this is ignored while it starts. */
const cpuInitializationPeriod = 5 * 60_000
/** A pod that became unready within this time after its start never was ready. */
const initialReadinessDelay = 30_000
export const maxInt32: number = 2 ** 31 - 1

function isWithin(ratio: number, { scaleUp, scaleDown }: Tolerances): boolean {
  return ratio >= 1 - scaleDown && ratio <= 1 + scaleUp
}

/** Proposes replicas so that each pod uses `target` percent of its request. */
export function replicasForUtilization(
  situation: Situation,
  metrics: PodMetrics,
  {
    resource,
    container,
    target,
  }: { readonly resource: string; readonly container: string; readonly target: number },
): Calculation {
  const groups = groupPods(situation, metrics, resource)
  const requests = new Map(
    situation.pods.map(pod => [pod.metadata.name, requestOf(pod, resource, container)]),
  )
  const ratioOf = (all: ReadonlyMap<string, PodMetric>) => {
    let [total, requested, count] = [0, 0, 0]
    for (const [name, { value }] of all) {
      const request = requests.get(name)
      if (request === undefined) continue
      total += value
      requested += request
      count++
    }
    if (requested === 0) throw new Error('no metrics returned matched known pods')
    const utilization = Math.trunc((total * 100) / requested)
    return { ratio: utilization / target, usage: Math.trunc(total / count), utilization }
  }
  // A pod without metrics is assumed to use all of its request before scaling down.
  const assumed = (name: string) => Math.trunc(((requests.get(name) ?? 0) * Math.max(100, target)) / 100)
  return calculate(situation, groups, ratioOf, assumed)
}

/** Proposes replicas so that each pod uses `target` milli-units. */
export function replicasForAverage(
  situation: Situation,
  metrics: PodMetrics,
  target: number,
  resource = '',
): Calculation {
  const groups = groupPods(situation, metrics, resource)
  const ratioOf = (all: ReadonlyMap<string, PodMetric>) => {
    const total = [...all.values()].reduce((sum, { value }) => sum + value, 0)
    const usage = Math.trunc(total / all.size)
    return { ratio: usage / target, usage }
  }
  return calculate(situation, groups, ratioOf, () => target)
}

/** Proposes replicas so that one value for all pods together reaches `target`. */
export function replicasForValue(situation: Situation, usage: number, target: number): Calculation {
  const { pods, currentReplicas, tolerances } = situation
  const ratio = usage / target
  if (currentReplicas === 0) return { replicas: limit(ratio), usage }
  if (isWithin(ratio, tolerances)) return { replicas: currentReplicas, usage }
  if (pods.length === 0)
    throw new Error(
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    )
  const ready = pods.filter(pod => pod.status?.phase === 'Running' && isPodReady(pod)).length
  return { replicas: limit(ratio * ready), usage }
}

/** Proposes replicas so that each existing pod has `target` milli-units of one value. */
export function replicasForShare(
  statusReplicas: number,
  tolerances: Tolerances,
  usage: number,
  target: number,
): Calculation {
  const ratio = usage / (target * statusReplicas)
  const replicas = isWithin(ratio, tolerances) ? statusReplicas : limit(usage / target)
  return { replicas, usage: statusReplicas === 0 ? 0 : Math.ceil(usage / statusReplicas) }
}

function limit(replicas: number): number {
  return Math.min(maxInt32, Math.ceil(replicas))
}

interface Groups {
  readonly metrics: PodMetrics
  readonly ready: number
  readonly unready: readonly string[]
  readonly missing: readonly string[]
}

/** Groups pods: terminating ones are ignored, unready ones count only when scaling up. */
function groupPods({ pods, now }: Situation, metrics: PodMetrics, resource: string): Groups {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const kept = new Map(metrics)
  const unready: string[] = []
  const missing: string[] = []
  let ready = 0
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata
    const metric = metrics.get(name)
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Failed') kept.delete(name)
    else if (
      pod.status?.phase === 'Pending' ||
      (metric && resource === 'cpu' && isStarting(pod, metric, now))
    ) {
      unready.push(name)
      kept.delete(name)
    } else if (!metric) missing.push(name)
    else ready++
  }
  if (kept.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  return { metrics: kept, ready, unready, missing }
}

function isStarting(pod: PodView, { timestamp, window }: PodMetric, now: number): boolean {
  const condition = podCondition(pod, 'Ready')
  const { startTime } = pod.status ?? {}
  if (!condition || !startTime) return true
  const started = Date.parse(startTime)
  const changed = Date.parse(condition.lastTransitionTime ?? '') || 0
  const isUnready = condition.status === 'False'
  if (started + cpuInitializationPeriod > now) return isUnready || timestamp < changed + window
  return isUnready && started + initialReadinessDelay > changed
}

function calculate(
  { currentReplicas, tolerances }: Situation,
  { metrics, ready, unready, missing }: Groups,
  ratioOf: (
    metrics: ReadonlyMap<string, PodMetric>,
  ) => Omit<Calculation, 'replicas'> & { readonly ratio: number },
  assumed: (name: string) => number,
): Calculation {
  const { ratio, ...seen } = ratioOf(metrics)
  const stay = { ...seen, replicas: currentReplicas }
  const countsUnready = unready.length > 0 && ratio > 1
  if (!countsUnready && missing.length === 0)
    return isWithin(ratio, tolerances) ? stay : { ...seen, replicas: Math.ceil(ratio * ready) }
  // Missing metrics are assumed to oppose the change.
  const guessed = new Map(metrics)
  const guess = (name: string, value: number) => guessed.set(name, { value, timestamp: 0, window: 0 })
  if (ratio < 1) for (const name of missing) guess(name, assumed(name))
  if (ratio > 1) for (const name of missing) guess(name, 0)
  if (countsUnready) for (const name of unready) guess(name, 0)
  const { ratio: cautious } = ratioOf(guessed)
  const turnsRound = (ratio < 1 && cautious > 1) || (ratio > 1 && cautious < 1)
  if (isWithin(cautious, tolerances) || turnsRound) return stay
  const replicas = Math.ceil(cautious * guessed.size)
  const isBackwards =
    (cautious < 1 && replicas > currentReplicas) || (cautious > 1 && replicas < currentReplicas)
  return isBackwards ? stay : { ...seen, replicas }
}

/** In milli-units. The pod-level request counts, unless a container is given. */
function requestOf(pod: PodView, resource: string, container: string): number {
  const { spec, metadata } = pod
  if (container === '' && spec.resources?.requests && Object.keys(spec.resources.requests).length > 0) {
    const amount = podRequests(pod).get(resource)
    if (!amount) throw new Error(`missing pod-level request for ${resource} in Pod ${metadata.name}`)
    return Number(amount.milliValue)
  }
  const counted = longRunningContainers(pod).filter(({ name }) => container === '' || name === container)
  if (container !== '' && counted.length === 0)
    throw new Error(`container ${container} not found in Pod ${metadata.name}`)
  return counted.reduce((sum, { name, resources }) => {
    const request = resources?.requests?.[resource]
    if (request === undefined)
      throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`)
    return sum + Number(parseQuantity(request).milliValue)
  }, 0)
}
