import type {
  Affinity,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { Decoded } from '../../../decoded.ts'
import { goValue } from '../../../shared/go-value.ts'
import { keep } from '../../../shared/members.ts'
import { type Findings, printed } from '../../../shared/reading.ts'
import { diffValues, isTooLongToCompare } from '../../../shared/unified-diff.ts'
import { mirrorAnnotation, validateAnnotationChanges } from './annotations.ts'
import { sameSpec } from './semantic.ts'

const path = field.Path.of('spec')
const maxInt32 = 2 ** 31 - 1
const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

export function annotationChanges(pod: Decoded<Pod>, old: Decoded<Pod>): FieldError[] {
  const annotations = (object: Decoded<Pod>) => object.metadata.annotations ?? {}
  return validateAnnotationChanges(
    annotations(pod),
    annotations(old),
    field.Path.of('metadata', 'annotations'),
  )
}

/** Only a few fields of a Pod can change, and some only in one direction. */
export function* validatePodUpdate(pod: Decoded<Pod>, oldPod: Decoded<Pod>): Findings {
  yield* annotationChanges(pod, oldPod)
  const spec = pod.spec ?? {}
  const old = oldPod.spec ?? {}
  for (const kind of ['containers', 'initContainers'] as const) {
    if ((spec[kind] ?? []).length !== (old[kind] ?? []).length) {
      yield field.forbidden(path.child(kind), 'pod updates may not add or remove containers')
      return
    }
    for (const [index, container] of (spec[kind] ?? []).entries())
      if ((container.image ?? '') === '') yield field.required(path.child(kind).index(index).child('image'))
  }
  const deadline = [...validateDeadline(spec, old)]
  yield* deadline
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return
  yield* validateAddedTolerations(spec, old)
  yield* validateDroppedGates(spec, old)
  if (sameSpec(spec, old)) return
  const munged = withOldValues(spec, old)
  if ((old.schedulingGates ?? []).length > 0) yield* adoptNodeChoice(munged, old)
  if (!sameSpec(munged, old)) {
    const difference =
      isTooLongToCompare(old) || isTooLongToCompare(munged)
        ? ''
        : diffValues(goValue('core.PodSpec', old), goValue('core.PodSpec', munged))
    const message = `pod updates may not change fields other than ${updatable}\n${difference}`
    yield field.forbidden(path, message)
  }
}

function* validateDeadline(spec: Decoded<PodSpec>, old: Decoded<PodSpec>): Findings {
  const at = path.child('activeDeadlineSeconds')
  const before = old.activeDeadlineSeconds
  if (spec.activeDeadlineSeconds === undefined) {
    if (before !== undefined)
      yield field.invalid(at, null, 'must not update from a positive integer to nil value')
    return
  }
  const seconds = Number(spec.activeDeadlineSeconds)
  if (seconds < 0 || seconds > maxInt32)
    yield field.invalid(at, spec.activeDeadlineSeconds, `must be between 0 and ${maxInt32}, inclusive`)
  else if (before !== undefined && Number(before) < seconds)
    yield field.invalid(at, spec.activeDeadlineSeconds, 'must be less than or equal to previous value')
}

function* validateAddedTolerations(spec: Decoded<PodSpec>, old: Decoded<PodSpec>): Findings {
  const textOfToleration = ({ key, operator, value, effect }: Decoded<Toleration>) =>
    JSON.stringify([key, operator, value, effect])
  const wanted = new Set((spec.tolerations ?? []).map(textOfToleration))
  for (const toleration of old.tolerations ?? []) {
    if (wanted.has(textOfToleration(toleration))) continue
    const message = 'existing toleration can not be modified except its tolerationSeconds'
    yield field.forbidden(path.child('tolerations'), message)
    return
  }
}

function* validateDroppedGates(spec: Decoded<PodSpec>, old: Decoded<PodSpec>): Findings {
  const before = new Set((old.schedulingGates ?? []).map(({ name }) => name ?? ''))
  for (const [index, gate] of (spec.schedulingGates ?? []).entries()) {
    const name = gate.name ?? ''
    if (before.has(name)) continue
    const message = `only deletion is allowed, but found new scheduling gate '${name}'`
    yield field.forbidden(path.child('schedulingGates').index(index).child('name'), message)
  }
}

/** A copy of `spec` with everything that may change as it was. */
function withOldValues(spec: Decoded<PodSpec>, old: Decoded<PodSpec>): Decoded<PodSpec> {
  const munged: Decoded<PodSpec> = { ...spec }
  for (const kind of ['containers', 'initContainers'] as const) {
    if (spec[kind] === undefined) continue
    munged[kind] = (spec[kind] ?? []).map((container, index) => {
      const { image } = (old[kind] ?? [])[index]!
      return { ...container, ...(image !== undefined && { image }) }
    })
  }
  keep(munged, old, ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'])
  const grace = old.terminationGracePeriodSeconds
  if (grace !== undefined && grace < 0 && spec.terminationGracePeriodSeconds === 1)
    munged.terminationGracePeriodSeconds = grace
  return munged
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'

/** The node selector and affinity of a gated Pod may become stricter. */
function* adoptNodeChoice(munged: Decoded<PodSpec>, old: Decoded<PodSpec>): Findings {
  const selector = munged.nodeSelector ?? {}
  const narrowed = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => selector[key] === value)
  if (!narrowed) {
    const message = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    yield field.invalid(path.child('nodeSelector'), munged.nodeSelector ?? null, message)
  }
  keep(munged, old, ['nodeSelector'])
  const before = old.affinity?.nodeAffinity
  const now = munged.affinity?.nodeAffinity
  if (deepEqual(before ?? null, now ?? null)) return
  yield* validateNodeAffinityChange(now ?? {}, before ?? {})
  const affinity: Decoded<Affinity> = { ...munged.affinity }
  keep(affinity, old.affinity ?? {}, ['nodeAffinity'])
  if (Object.keys(affinity).length === 0 && old.affinity === undefined) delete munged.affinity
  else munged.affinity = affinity
}

function* validateNodeAffinityChange(now: Decoded<NodeAffinity>, before: Decoded<NodeAffinity>): Findings {
  const oldTerms = before[required]?.nodeSelectorTerms ?? []
  const terms = now[required]?.nodeSelectorTerms ?? []
  const at = path.child('affinity', 'nodeAffinity', required, 'nodeSelectorTerms')
  if (oldTerms.length === 0) return
  const goTerm = (term: Decoded<NodeSelectorTerm>) => goValue('core.NodeSelectorTerm', term)
  if (oldTerms.length !== terms.length) {
    const message = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    yield field.invalid(at, printed(terms.map(goTerm)), message)
    return
  }
  for (const [index, old] of oldTerms.entries()) {
    const term = terms[index]!
    const grows = (['matchExpressions', 'matchFields'] as const).every(member => {
      const kept = (term[member] ?? []).slice(0, (old[member] ?? []).length)
      return deepEqual(kept, old[member] ?? [])
    })
    const wasEmpty = (old.matchExpressions ?? []).length + (old.matchFields ?? []).length === 0
    const isEmpty = (term.matchExpressions ?? []).length + (term.matchFields ?? []).length === 0
    if (!grows || (wasEmpty && !isEmpty)) {
      const message = 'only additions are allowed (no mutations or deletions)'
      yield field.invalid(at.index(index), printed(goTerm(term)), message)
    }
  }
}

/** Ephemeral containers can be added, but not changed or removed. */
export function* validateEphemeralContainersUpdate(pod: Decoded<Pod>, old: Decoded<Pod>): Findings {
  yield* annotationChanges(pod, old)
  const at = path.child('ephemeralContainers')
  const byName = new Map(
    (pod.spec?.ephemeralContainers ?? []).map(container => [container.name ?? '', container]),
  )
  for (const container of old.spec?.ephemeralContainers ?? []) {
    const name = container.name ?? ''
    const now = byName.get(name)
    if (!now)
      yield field.forbidden(at, `existing ephemeral containers ${JSON.stringify(name)} may not be removed\n`)
    else if (!deepEqual(now, container))
      yield field.forbidden(
        at,
        `existing ephemeral containers ${JSON.stringify(name)} may not be changed\n${diffValues(
          goValue('core.EphemeralContainer', container),
          goValue('core.EphemeralContainer', now),
        )}`,
      )
  }
}

/** A static Pod cannot be changed; no other error is reported then. */
export function refuseStatic(old: Decoded<Pod>, message: string): FieldError[] | undefined {
  const annotations = old.metadata.annotations ?? {}
  if (annotations[mirrorAnnotation] === undefined) return undefined
  return [field.forbidden(field.Path.of(''), message)]
}
