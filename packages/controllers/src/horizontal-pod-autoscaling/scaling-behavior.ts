import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '@coxswain/api/autoscaling/v2'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { maxOf, minOf } from '@coxswain/kit'
import { maxInt32 } from './replica-calculation.ts'

type Rules = DeepReadonly<HPAScalingRules>
export type Behavior = DeepReadonly<HorizontalPodAutoscalerBehavior>

interface Dated {
  readonly at: number
  readonly replicas: number
}

/** The recent recommendations and changes of one autoscaler. */
export interface ScalingHistory {
  recommendations: Dated[]
  ups: Dated[]
  downs: Dated[]
}

export interface Verdict {
  readonly replicas: number
  /** Of the conditions AbleToScale and ScalingLimited. */
  readonly stabilized: { readonly reason: string; readonly message: string }
  readonly limited: { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string }
}

export interface Recommendation {
  readonly current: number
  readonly desired: number
  readonly min: number
  readonly max: number
  readonly now: number
}

const downscaleWindow = 300
/** Longer than any stabilization window or policy period. */
const memory = 3_600_000

/** Limits the desired replicas by the stabilization windows and scaling policies. */
export function normalize(
  history: ScalingHistory,
  recommendation: Recommendation,
  behavior: Behavior | undefined,
): Verdict {
  const { desired, now } = recommendation
  const stable = behavior
    ? stabilizeUpAndDown(history, recommendation, behavior)
    : stabilizeDown(history, recommendation)
  history.recommendations = remember(history.recommendations, { at: now, replicas: desired })
  const ready = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
  const stabilized = stable === desired ? ready : stabilizedBy(recommendation, behavior)
  const bounded = { ...recommendation, desired: stable }
  const [replicas, reason, message] = behavior
    ? limitByPolicies(history, bounded, behavior)
    : limitByFactor(bounded)
  const status = replicas === stable ? 'False' : 'True'
  return { replicas, stabilized, limited: { status, reason, message } }
}

/** Records that replicas changed. */
export function recordScaling(history: ScalingHistory, from: number, to: number, now: number): void {
  const entry = { at: now, replicas: Math.abs(to - from) }
  if (to > from) history.ups = remember(history.ups, entry)
  else history.downs = remember(history.downs, entry)
}

function remember(entries: readonly Dated[], entry: Dated): Dated[] {
  return [...entries.filter(({ at }) => at > entry.at - memory), entry]
}

function stabilizedBy({ current, desired }: Recommendation, behavior: Behavior | undefined) {
  return behavior && desired >= current
    ? {
        reason: 'ScaleUpStabilized',
        message:
          'recent recommendations were lower than current one, applying the lowest recent recommendation',
      }
    : {
        reason: 'ScaleDownStabilized',
        message:
          'recent recommendations were higher than current one, applying the highest recent recommendation',
      }
}

function stabilizeDown({ recommendations }: ScalingHistory, { desired, now }: Recommendation): number {
  const recent = recommendations.filter(({ at }) => at >= now - downscaleWindow * 1_000)
  return Math.max(desired, maxOf(recent.map(({ replicas }) => replicas)))
}

function stabilizeUpAndDown(
  { recommendations }: ScalingHistory,
  { current, desired, now }: Recommendation,
  { scaleUp, scaleDown }: Behavior,
): number {
  const since = (seconds: number) =>
    recommendations.filter(({ at }) => at > now - seconds * 1_000).map(({ replicas }) => replicas)
  const up = Math.min(desired, minOf(since(scaleUp?.stabilizationWindowSeconds ?? 0)))
  const down = Math.max(desired, maxOf(since(scaleDown?.stabilizationWindowSeconds ?? downscaleWindow)))
  return Math.min(Math.max(current, up), down)
}

const withinRange = ['DesiredWithinRange', 'the desired count is within the acceptable range'] as const
const tooMany = [
  'TooManyReplicas',
  'the desired replica count is more than the maximum replica count',
] as const
const tooFew = ['TooFewReplicas', 'the desired replica count is less than the minimum replica count'] as const
const tooFastUp = [
  'ScaleUpLimit',
  'the desired replica count is increasing faster than the maximum scale rate',
] as const
const tooFastDown = [
  'ScaleDownLimit',
  'the desired replica count is decreasing faster than the maximum scale rate',
] as const

/** Without a behavior: at most twice as many, or four. */
function limitByFactor({ current, desired, min, max }: Recommendation): readonly [number, string, string] {
  const fastest = Math.max(2 * current, 4)
  if (desired < min) return [min, ...tooFew]
  if (desired > Math.min(max, fastest)) return max > fastest ? [fastest, ...tooFastUp] : [max, ...tooMany]
  return [desired, ...withinRange]
}

function limitByPolicies(
  history: ScalingHistory,
  { current, desired, min, max, now }: Recommendation,
  { scaleUp, scaleDown }: Behavior,
): readonly [number, string, string] {
  if (desired > current) {
    const fastest = Math.max(current, fastestChange(history, current, scaleUp, 'up', now))
    if (desired > Math.min(max, fastest)) return max > fastest ? [fastest, ...tooFastUp] : [max, ...tooMany]
  } else if (desired < current) {
    const fastest = Math.min(current, fastestChange(history, current, scaleDown, 'down', now))
    if (desired < Math.max(min, fastest)) return min < fastest ? [fastest, ...tooFastDown] : [min, ...tooFew]
  }
  return [desired, ...withinRange]
}

/** The limit set by policies, relative to the number of replicas at the start of each period. */
function fastestChange(
  { ups, downs }: ScalingHistory,
  current: number,
  rules: Rules | undefined,
  direction: 'up' | 'down',
  now: number,
): number {
  const { selectPolicy = 'Max', policies = [] } = rules ?? {}
  const isUp = direction === 'up'
  if (selectPolicy === 'Disabled') return current
  if (policies.length === 0) return isUp ? maxInt32 : 0
  const proposals = policies.map(({ type, value, periodSeconds }) => {
    const within = (entries: readonly Dated[]) =>
      entries
        .filter(({ at }) => at > now - periodSeconds * 1_000)
        .reduce((sum, { replicas }) => sum + replicas, 0)
    const start = current - within(ups) + within(downs)
    if (type === 'Pods') return isUp ? start + value : start - value
    return isUp ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100))
  })
  return (selectPolicy === 'Min') === isUp ? minOf(proposals) : maxOf(proposals)
}
