import type { Pod, PodCondition, PodSpec, PodStatus } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { computeQosClass, isTerminalPhase } from '@coxswain/kinds'
import type { Decoded } from '../../decoded.ts'
import { defineStrategy } from '../../define-strategy.ts'
import { childOf } from '../../shared/members.ts'
import { numberOf } from '../../shared/reading.ts'
import type { Strategy } from '../../strategy.ts'
import { applyAppArmorAnnotations } from './app-armor.ts'
import { printPod } from './cells.ts'
import {
  defaultHostPorts,
  defaultPodLevelResources,
  defaultPodResources,
  defaultPodSpec,
  defaultPodStatus,
} from './defaults.ts'
import { applyLabelKeys } from './label-keys.ts'
import { ephemeralContainers, resize } from './subresources.ts'
import { validateNewPod, validatePod } from './validation/pod-spec.ts'
import { validatePodStatusUpdate } from './validation/pod-status.ts'
import { validatePodUpdate } from './validation/pod-update.ts'
import { podWarnings } from './warnings.ts'

export const podStrategy: Strategy = defineStrategy<Pod>({
  generation: true,
  returnsDeleted: true,
  subresources: { ephemeralcontainers: ephemeralContainers, resize },
  default(object) {
    const spec = childOf(object, 'spec')
    defaultPodSpec(spec)
    defaultPodResources(spec)
    defaultPodLevelResources(spec)
    defaultHostPorts(spec)
    spec.enableServiceLinks ??= true
    if (numberOf(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1
    if (object.status) defaultPodStatus(object.status)
  },
  prepareForCreate(object, { clock }) {
    const spec = object.spec ?? {}
    object.status = { phase: 'Pending', qosClass: computeQosClass(spec as PodSpec) }
    if ((spec.schedulingGates ?? []).length > 0)
      (object.status as Decoded<PodStatus>).conditions = [gated(formatTime(clock.now()))]
    applyLabelKeys(object)
    applyAppArmorAnnotations(object)
  },
  validate: (object, _context, old) => (old ? validatePod(object) : validateNewPod(object)),
  validateUpdate: (object, old) => validatePodUpdate(object, old),
  prepareForStatusUpdate(object, old) {
    const status = childOf(object, 'status')
    const before = old.status ?? {}
    delete status.nodeAllocatableResourceClaimStatuses
    const metadata = object.metadata
    const { ownerReferences } = old.metadata
    if (ownerReferences === undefined) delete metadata.ownerReferences
    else metadata.ownerReferences = ownerReferences
    if ((status.qosClass ?? '') === '' && before.qosClass !== undefined) status.qosClass = before.qosClass
    keepObservedGenerations(status, before)
  },
  validateStatusUpdate: (object, old) => validatePodStatusUpdate(object, old),
  /** Pods change often and rarely by hand, so only creates get warnings. */
  warnings: (object, old) => (old ? [] : podWarnings(object)),
  gracePeriod(object, requested) {
    const spec = object.spec ?? {}
    const { phase } = object.status ?? {}
    if ((spec.nodeName ?? '') === '' || isTerminalPhase(phase ?? '')) return 0
    const period = requested ?? numberOf(spec.terminationGracePeriodSeconds)
    return period < 0 ? 1 : period
  },
  fields(object) {
    const spec = (object.spec ?? {}) as Decoded<PodSpec>
    return { 'spec.hostNetwork': String(spec.hostNetwork ?? false) }
  },
  cells: printPod,
})

const gated = (now: string): Decoded<PodCondition> => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: now,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
})

/** A client that does not know `observedGeneration` does not clear it. */
function keepObservedGenerations(status: Decoded<PodStatus>, before: Decoded<PodStatus>): void {
  if (!status.observedGeneration && before.observedGeneration)
    status.observedGeneration = before.observedGeneration
  const known = new Map<string | undefined, (number | undefined)[]>()
  // The first one last, to be taken off the end.
  for (const { type, observedGeneration } of (before.conditions ?? []).toReversed()) {
    const same = known.get(type)
    if (same) same.push(observedGeneration)
    else known.set(type, [observedGeneration])
  }
  for (const condition of status.conditions ?? []) {
    const generation = known.get(condition.type)?.pop()
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation
  }
}
