import type { Container, Pod, PodSpec } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Decoded } from '../../decoded.ts'
import { keep } from '../../shared/members.ts'
import { numberOf } from '../../shared/reading.ts'
import type { SubresourceStrategy } from '../../strategy.ts'
import { validatePod } from './validation/pod-spec.ts'
import { refuseStatic, validateEphemeralContainersUpdate } from './validation/pod-update.ts'
import { validateResize } from './validation/resize.ts'

/** Adds containers to a running pod, to look into it. Nothing else of the pod changes. */
export const ephemeralContainers: SubresourceStrategy<Pod> = {
  prepareForUpdate(object, old) {
    const spec: Decoded<PodSpec> = { ...old.spec }
    keep(spec, object.spec ?? {}, ['ephemeralContainers'])
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
export const resize: SubresourceStrategy<Pod> = {
  prepareForUpdate(object, old) {
    const spec = object.spec ?? {}
    const before = old.spec ?? {}
    const sameNumber = (['containers', 'initContainers'] as const).every(
      kind => (spec[kind] ?? []).length === (before[kind] ?? []).length,
    )
    if (!sameNumber) return
    const next: Decoded<PodSpec> = { ...before }
    keep(next, spec, ['resources'])
    for (const kind of ['containers', 'initContainers'] as const)
      if (spec[kind] !== undefined) next[kind] = withNewResources(spec[kind] ?? [], before[kind] ?? [])
    object.spec = next
    keepTheRest(object, old)
  },
  *validateUpdate(object, old) {
    yield* validatePod(object)
    yield* validateResize(object, old)
  },
}

/** The old containers with the new resources; the new ones as they are when they were moved about. */
function withNewResources(
  containers: readonly Decoded<Container>[],
  old: readonly Decoded<Container>[],
): Decoded<Container>[] {
  if (containers.some(({ name }, index) => old[index]?.name !== name)) return [...containers]
  return old.map((container, index) => {
    const next: Decoded<Container> = { ...container }
    keep(next, containers[index]!, ['resources', 'resizePolicy'])
    return next
  })
}

/** Everything but the specification is as it was. */
function keepTheRest(object: Decoded<Pod>, old: Decoded<Pod>): void {
  const metadata = object.metadata
  const before = old.metadata
  keep(metadata, before, ['labels', 'annotations', 'ownerReferences', 'finalizers'])
  keep(object, old, ['status'])
  if (!deepEqual(object.spec, old.spec)) metadata.generation = numberOf(before.generation) + 1
}
