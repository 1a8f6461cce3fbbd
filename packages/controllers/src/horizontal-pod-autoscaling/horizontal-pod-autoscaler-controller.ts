import { HorizontalPodAutoscaler, type MetricStatus } from '@coxswain/api/autoscaling/v2'
import { Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { type DeepReadonly, formatKey } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { parseLabelSelector, type Selector } from '@coxswain/apimachinery/selectors'
import { formatTime } from '@coxswain/apimachinery/time'
import { setCondition } from '@coxswain/kinds'
import {
  defineOperator,
  type Operator,
  type Predicate,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { MetricFailure, proposeFor } from './metric-proposal.ts'
import { MetricsClient } from './metrics-client.ts'
import type { Tolerances } from './replica-calculation.ts'
import { ScaleTargets, type ScaleView } from './scale-targets.ts'
import { normalize, recordScaling, type ScalingHistory } from './scaling-behavior.ts'

/** Options of {@link createHorizontalPodAutoscalerController}. */
export interface HorizontalPodAutoscalerOptions {
  /** Milliseconds between two evaluations of metrics. @default 15 s */
  readonly syncPeriod?: number
  /** @default 0.1 */
  readonly tolerance?: number
}

type AutoscalerView = DeepReadonly<HorizontalPodAutoscaler>
type Condition = {
  type: string
  status: string
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

interface State {
  readonly tolerance: number
  readonly targets: ScaleTargets
  /** By autoscaler. */
  readonly histories: Map<string, ScalingHistory>
  readonly selectors: Map<string, { readonly namespace: string; readonly selector: Selector }>
}

/** Scales any target with a `scale` subresource to meet its metric targets. */
export function createHorizontalPodAutoscalerController(
  options: HorizontalPodAutoscalerOptions = {},
): Operator {
  const { syncPeriod = 15_000, tolerance = 0.1 } = options
  return defineOperator('horizontal-pod-autoscaler-controller', operator => {
    const state: State = {
      tolerance,
      targets: new ScaleTargets(),
      histories: new Map(),
      selectors: new Map(),
    }
    operator
      .controller('horizontal-pod-autoscaler')
      .for(HorizontalPodAutoscaler, { predicates: [specChanged] })
      .watches(Pod, () => []) // only read: reconciliations are timed
      .options({ eventSource: 'horizontal-pod-autoscaler', concurrency: 5 })
      .reconcile(async (context): Promise<ReconcileResult> => {
        const key = formatKey(context.key)
        const autoscaler = await context.client.get(HorizontalPodAutoscaler, context.key)
        if (!autoscaler || autoscaler.metadata.deletionTimestamp) {
          state.histories.delete(key)
          state.selectors.delete(key)
          return
        }
        try {
          await new Attempt(context, state, autoscaler).run()
        } catch (error) {
          // Reported in events and conditions.
          context.log.info('autoscaling failed', { autoscaler: key, reason: (error as Error).message })
        }
        return requeueAfter(syncPeriod)
      })
  })
}

const specChanged: Predicate<HorizontalPodAutoscaler> = event =>
  event.type !== 'update' ||
  event.isResync ||
  !deepEqual((event.old as AutoscalerView).spec, (event.object as AutoscalerView).spec)

/** One reconciliation of one autoscaler. */
class Attempt {
  readonly #context: ReconcileContext
  readonly #state: State
  readonly #autoscaler: AutoscalerView
  readonly #key: string
  #conditions: Condition[]

  constructor(context: ReconcileContext, state: State, autoscaler: AutoscalerView) {
    this.#context = context
    this.#state = state
    this.#autoscaler = autoscaler
    this.#key = formatKey(context.key)
    this.#conditions = [...(autoscaler.status?.conditions ?? [])]
  }

  async run(): Promise<void> {
    const { client, clock, events } = this.#context
    const { spec } = this.#autoscaler
    const scale = await this.#readScale()
    this.#set(
      'AbleToScale',
      'True',
      'SucceededGetScale',
      "the HPA controller was able to get the target's current scale",
    )
    const current = scale.spec?.replicas ?? 0
    const now = clock.now()
    const history = this.#historyFrom(current, now)
    const min = spec.minReplicas ?? 1
    let desired = current
    let reason = ''
    let statuses: readonly MetricStatus[] = []
    let failure: Error | undefined
    if (current === 0) {
      this.#set(
        'ScalingActive',
        'False',
        'ScalingDisabled',
        'scaling is disabled since the replica count of the target is zero',
      )
    } else if (current > spec.maxReplicas) {
      reason = 'Current number of replicas above Spec.MaxReplicas'
      desired = spec.maxReplicas
    } else if (current < min) {
      reason = 'Current number of replicas below Spec.MinReplicas'
      desired = min
    } else {
      const computed = await this.#compute(scale)
      statuses = computed.statuses
      failure = computed.failure
      if (computed.replicas === undefined) {
        await this.#writeStatus({ current, desired: this.#autoscaler.status?.desiredReplicas ?? 0, statuses })
        events.warning(this.#autoscaler, 'FailedComputeMetricsReplicas', failure!.message)
        throw new Error(
          `failed to compute desired number of replicas based on listed metrics for ${this.#reference()}: ${failure!.message}`,
        )
      }
      if (computed.replicas > current) reason = `${computed.metric} above target`
      if (computed.replicas < current) reason = 'All metrics below target'
      const recommendation = { current, desired: computed.replicas, min, max: spec.maxReplicas, now }
      const verdict = normalize(history, recommendation, spec.behavior)
      this.#set('AbleToScale', 'True', verdict.stabilized.reason, verdict.stabilized.message)
      this.#set('ScalingLimited', verdict.limited.status, verdict.limited.reason, verdict.limited.message)
      desired = verdict.replicas
    }
    const rescales = desired !== current
    if (rescales) {
      try {
        await this.#state.targets.write(client.direct, this.#autoscaler, scale, desired)
      } catch (error) {
        const { message } = error as Error
        events.warning(
          this.#autoscaler,
          'FailedRescale',
          `New size: ${desired}; reason: ${reason}; error: ${message}`,
        )
        this.#set(
          'AbleToScale',
          'False',
          'FailedUpdateScale',
          `the HPA controller was unable to update the target scale: ${message}`,
        )
        await this.#writeStatus({ current, desired: this.#autoscaler.status?.desiredReplicas ?? 0, statuses })
        throw new Error(`failed to rescale ${this.#reference()}: ${message}`)
      }
      this.#set(
        'AbleToScale',
        'True',
        'SucceededRescale',
        `the HPA controller was able to update the target scale to ${desired}`,
      )
      events.normal(this.#autoscaler, 'SuccessfulRescale', `New size: ${desired}; reason: ${reason}`)
      recordScaling(history, current, desired, now)
    }
    await this.#writeStatus({ current, desired, statuses, rescales })
    if (failure) throw failure
  }

  async #readScale(): Promise<ScaleView> {
    try {
      return await this.#state.targets.read(this.#context.client.direct, this.#autoscaler)
    } catch (error) {
      const { message } = error as Error
      this.#context.events.warning(this.#autoscaler, 'FailedGetScale', message)
      this.#set(
        'AbleToScale',
        'False',
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${message}`,
      )
      const { currentReplicas = 0, desiredReplicas = 0, currentMetrics = [] } = this.#autoscaler.status ?? {}
      const statuses = (currentMetrics ?? []) as readonly MetricStatus[]
      await this.#writeStatus({ current: currentReplicas, desired: desiredReplicas, statuses })
      throw new Error(`failed to query scale subresource for ${this.#reference()}: ${message}`)
    }
  }

  /** The highest proposal of any metric; scales down only if all of them could be read. */
  async #compute(scale: ScaleView): Promise<{
    readonly replicas?: number
    readonly metric?: string
    readonly statuses: readonly MetricStatus[]
    readonly failure?: Error
  }> {
    const { client, clock, events } = this.#context
    const { targets } = this.#state
    const { namespace = '' } = this.#autoscaler.metadata
    const specs = this.#autoscaler.spec.metrics ?? []
    const found = await this.#selectPods(scale.status?.selector ?? '')
    if ('failure' in found) return { statuses: [], failure: found.failure }
    const currentReplicas = scale.spec?.replicas ?? 0
    const situation = { pods: found.pods, currentReplicas, tolerances: this.#tolerances(), now: clock.now() }
    const context = {
      metrics: new MetricsClient(client.direct),
      situation,
      namespace,
      selector: scale.status?.selector ?? '',
      statusReplicas: scale.status?.replicas ?? 0,
      resourceOf: (apiVersion: string, kind: string) => targets.resourceOf(client.direct, apiVersion, kind),
    }
    const statuses: MetricStatus[] = []
    const failures: MetricFailure[] = []
    let best: { readonly replicas: number; readonly metric: string } | undefined
    for (const spec of specs) {
      try {
        const proposal = await proposeFor(context, spec)
        statuses.push(proposal.status)
        if (!best || proposal.replicas > best.replicas) best = proposal
      } catch (error) {
        if (!(error instanceof MetricFailure)) throw error
        events.warning(this.#autoscaler, error.reason, error.detail)
        failures.push(error)
        statuses.push({ type: '' })
      }
    }
    const [first] = failures
    const failure =
      first &&
      new Error(
        `invalid metrics (${failures.length} invalid out of ${specs.length}), first error is: ${first.message}`,
      )
    if (!best || (failure && best.replicas < currentReplicas)) {
      const message = `the HPA was unable to compute the replica count: ${first?.detail}`
      if (first) this.#set('ScalingActive', 'False', first.reason, message)
      return { statuses, failure: failure ?? new Error('no metrics') }
    }
    const message = `the HPA was able to successfully calculate a replica count from ${best.metric}`
    this.#set('ScalingActive', 'True', 'ValidMetricFound', message)
    return { ...best, statuses, ...(failure && { failure }) }
  }

  async #selectPods(
    text: string,
  ): Promise<{ readonly pods: readonly DeepReadonly<Pod>[] } | { readonly failure: Error }> {
    const { client, events } = this.#context
    const { namespace = '' } = this.#autoscaler.metadata
    const fail = (event: string, reason: string, message: string, condition = message) => {
      events.warning(this.#autoscaler, event, message)
      this.#set('ScalingActive', 'False', reason, condition)
      return { failure: new Error(message) }
    }
    if (text === '')
      return fail(
        'SelectorRequired',
        'InvalidSelector',
        'selector is required',
        "the HPA target's scale is missing a selector",
      )
    let selector: Selector
    try {
      selector = parseLabelSelector(text)
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${(error as Error).message}`
      return fail('InvalidSelector', 'InvalidSelector', message)
    }
    const { selectors } = this.#state
    selectors.set(this.#key, { namespace, selector })
    const { items } = await client.list(Pod, { namespace })
    const pods = items.filter(pod => selector.matches(pod.metadata.labels))
    const rivals = [...selectors].filter(
      ([, other]) =>
        other.namespace === namespace && pods.some(pod => other.selector.matches(pod.metadata.labels)),
    )
    if (rivals.length > 1) {
      const names = rivals.map(([key]) => `{${key.replace('/', ' ')}}`).sort()
      const message = `pods by selector ${text} are controlled by multiple HPAs: [${names.join(' ')}]`
      return fail('AmbiguousSelector', 'AmbiguousSelector', message)
    }
    return { pods }
  }

  #tolerances(): Tolerances {
    const { scaleUp, scaleDown } = this.#autoscaler.spec.behavior ?? {}
    const read = (tolerance: string | undefined) =>
      tolerance === undefined ? this.#state.tolerance : parseQuantity(tolerance).toNumber()
    return { scaleUp: read(scaleUp?.tolerance), scaleDown: read(scaleDown?.tolerance) }
  }

  /** Initializes the history, so that a restarted controller does not scale down at once. */
  #historyFrom(current: number, now: number): ScalingHistory {
    const { histories } = this.#state
    const known = histories.get(this.#key)
    if (known) return known
    const history = { recommendations: [{ at: now, replicas: current }], ups: [], downs: [] }
    histories.set(this.#key, history)
    return history
  }

  #reference(): string {
    const { kind, name } = this.#autoscaler.spec.scaleTargetRef
    return `${kind}/${this.#autoscaler.metadata.namespace}/${name}`
  }

  #set(type: string, status: 'True' | 'False', reason: string, message: string): void {
    const lastTransitionTime = formatTime(this.#context.clock.now())
    this.#conditions = setCondition(this.#conditions, { type, status, lastTransitionTime, reason, message })
  }

  async #writeStatus(to: {
    readonly current: number
    readonly desired: number
    readonly statuses: readonly MetricStatus[]
    readonly rescales?: boolean
  }): Promise<void> {
    const { client, clock, events } = this.#context
    const { lastScaleTime, observedGeneration } = this.#autoscaler.status ?? {}
    const time = to.rescales ? formatTime(clock.now()) : lastScaleTime
    const status = {
      ...(observedGeneration !== undefined && { observedGeneration }),
      ...(time && { lastScaleTime: time }),
      currentReplicas: to.current,
      desiredReplicas: to.desired,
      currentMetrics: to.statuses.length > 0 ? to.statuses : null,
      conditions: this.#conditions,
    }
    if (deepEqual(plain(status), plain(this.#autoscaler.status ?? {}))) return
    try {
      await client.updateStatus(HorizontalPodAutoscaler, { ...this.#autoscaler, status } as AutoscalerView)
    } catch (error) {
      events.warning(this.#autoscaler, 'FailedUpdateStatus', (error as Error).message)
      throw error
    }
  }
}

/** The server omits zeros, and returns null for no metrics. */
function plain(status: object): object {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== null && value !== 0))
}
