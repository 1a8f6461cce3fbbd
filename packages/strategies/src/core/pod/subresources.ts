import { deepEqual, type JsonObject } from '@coxswain/apimachinery/json'
import { listOf, numberOf, objectOf } from '../../shared/reading.ts'
import type { SubresourceStrategy } from '../../strategy.ts'
import { validatePod } from './validation/pod-spec.ts'
import { refuseStatic, validateEphemeralContainersUpdate } from './validation/pod-update.ts'
import { validateResize } from './validation/resize.ts'

/** Adds containers to a running pod, to look into it. Nothing else of the pod changes. */
export const ephemeralContainers: SubresourceStrategy = {
  prepareForUpdate(object, old) {
    const wanted = objectOf(object.spec).ephemeralContainers
    const spec: JsonObject = { ...objectOf(old.spec) }
    if (wanted === undefined) delete spec.ephemeralContainers
    else spec.ephemeralContainers = wanted
    object.spec = spec
    keepTheRest(object, old)
  },
  *validateUpdate(object, old) {
    const refused = refuseStatic(old, 'static pods do not support ephemeral containers')
    if (refused) {
      yield* refused
      return
    }
    yield* validatePod(object)
    yield* validateEphemeralContainersUpdate(object, old)
  },
}

/** Changes what containers get of cpu and memory, while they run. */
export const resize: SubresourceStrategy = {
  prepareForUpdate(object, old) {
    const spec = objectOf(object.spec)
    const before = objectOf(old.spec)
    const sameNumber = ['containers', 'initContainers'].every(
      kind => listOf(spec[kind]).length === listOf(before[kind]).length,
    )
    if (!sameNumber) return
    const next: JsonObject = { ...before }
    if (spec.resources === undefined) delete next.resources
    else next.resources = spec.resources
    for (const kind of ['containers', 'initContainers'])
      if (spec[kind] !== undefined) next[kind] = withNewResources(listOf(spec[kind]), listOf(before[kind]))
    object.spec = next
    keepTheRest(object, old)
  },
  *validateUpdate(object, old) {
    yield* validatePod(object)
    yield* validateResize(object, old)
  },
}

/** The old containers with the new resources; the new ones as they are when they were moved about. */
function withNewResources(containers: readonly JsonObject[], old: readonly JsonObject[]): JsonObject[] {
  if (containers.some(({ name }, index) => old[index]?.name !== name)) return [...containers]
  return old.map((container, index) => {
    const next: JsonObject = { ...container }
    for (const member of ['resources', 'resizePolicy']) {
      if (containers[index]![member] === undefined) delete next[member]
      else next[member] = containers[index]![member]
    }
    return next
  })
}

/** Everything but the specification is as it was. */
function keepTheRest(object: JsonObject, old: JsonObject): void {
  const metadata = objectOf(object.metadata)
  const before = objectOf(old.metadata)
  for (const member of ['labels', 'annotations', 'ownerReferences', 'finalizers']) {
    if (before[member] === undefined) delete metadata[member]
    else metadata[member] = before[member]
  }
  if (old.status === undefined) delete object.status
  else object.status = old.status
  if (!deepEqual(object.spec, old.spec)) metadata.generation = numberOf(before.generation) + 1
}
