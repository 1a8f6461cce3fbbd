import { formatTime } from '../../handlers/lifecycle.ts'
import { childObject, isObject, type JsonObject } from '../../json.ts'
import type { Strategy } from '../../registry/strategy.ts'
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
import { qosClassOf } from './qos.ts'
import { ephemeralContainers, resize } from './subresources.ts'
import { validateNewPod, validatePod } from './validation/pod-spec.ts'
import { validatePodStatusUpdate } from './validation/pod-status.ts'
import { validatePodUpdate } from './validation/pod-update.ts'
import { listOf, numberOf, objectOf, textOf } from './validation/reading.ts'
import { podWarnings } from './warnings.ts'

export const podStrategy: Strategy = {
  generation: true,
  returnsDeleted: true,
  subresources: { ephemeralcontainers: ephemeralContainers, resize },
  default(object) {
    const spec = childObject(object, 'spec')
    defaultPodSpec(spec)
    defaultPodResources(spec)
    defaultPodLevelResources(spec)
    defaultHostPorts(spec)
    spec.enableServiceLinks ??= true
    if (numberOf(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1
    if (isObject(object.status)) defaultPodStatus(object.status)
  },
  prepareForCreate(object, { clock }) {
    const spec = objectOf(object.spec)
    object.status = { phase: 'Pending', qosClass: qosClassOf(object) }
    if (listOf(spec.schedulingGates).length > 0)
      (object.status as JsonObject).conditions = [gated(formatTime(clock.now()))]
    applyLabelKeys(object)
    applyAppArmorAnnotations(object)
  },
  validate: (object, _context, old) => (old ? validatePod(object) : validateNewPod(object)),
  validateUpdate: (object, old) => validatePodUpdate(object, old),
  prepareForStatusUpdate(object, old) {
    const status = childObject(object, 'status')
    const before = objectOf(old.status)
    delete status.nodeAllocatableResourceClaimStatuses
    const metadata = objectOf(object.metadata)
    const { ownerReferences } = objectOf(old.metadata)
    if (ownerReferences === undefined) delete metadata.ownerReferences
    else metadata.ownerReferences = ownerReferences
    if (textOf(status.qosClass) === '' && before.qosClass !== undefined) status.qosClass = before.qosClass
    keepObservedGenerations(status, before)
  },
  validateStatusUpdate: (object, old) => validatePodStatusUpdate(object, old),
  /** Pods change often and seldom by hand, so only new ones are warned about. */
  warnings: (object, old) => (old ? [] : podWarnings(object)),
  gracePeriod(object, requested) {
    const spec = objectOf(object.spec)
    const { phase } = objectOf(object.status)
    if (textOf(spec.nodeName) === '' || phase === 'Succeeded' || phase === 'Failed') return 0
    const period = requested ?? numberOf(spec.terminationGracePeriodSeconds)
    return period < 0 ? 1 : period
  },
  fields(object) {
    const spec = (object.spec ?? {}) as JsonObject
    return { 'spec.hostNetwork': String(spec.hostNetwork ?? false) }
  },
  cells: printPod,
}

const gated = (now: string): JsonObject => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: now,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
})

/** A writer that does not know of generations does not take away what another has noted. */
function keepObservedGenerations(status: JsonObject, before: JsonObject): void {
  if (!status.observedGeneration && before.observedGeneration)
    status.observedGeneration = before.observedGeneration
  const known = new Map<unknown, unknown[]>()
  // The first one last, to be taken off the end.
  for (const { type, observedGeneration } of listOf(before.conditions).toReversed()) {
    const same = known.get(type)
    if (same) same.push(observedGeneration)
    else known.set(type, [observedGeneration])
  }
  for (const condition of listOf(status.conditions)) {
    if (!isObject(condition)) continue
    const generation = known.get(condition.type)?.pop()
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation
  }
}
