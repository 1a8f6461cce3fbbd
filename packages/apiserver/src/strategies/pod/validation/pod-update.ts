import { deepEqual, type FieldError, field } from '@coxswain/apimachinery'
import type { JsonObject } from '../../../json.ts'
import { diffValues, isTooLongToCompare } from '../../unified-diff.ts'
import { goValue } from '../go-value.ts'
import { mirrorAnnotation, validateAnnotationChanges } from './annotations.ts'
import { type Findings, listOf, objectOf, printed, recordOf, textOf } from './reading.ts'
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

export function annotationChanges(pod: JsonObject, old: JsonObject): FieldError[] {
  const annotations = (object: JsonObject) => recordOf(objectOf(object.metadata).annotations)
  return validateAnnotationChanges(
    annotations(pod),
    annotations(old),
    field.Path.of('metadata', 'annotations'),
  )
}

/** A pod is what it is: few things can change, and those in one direction. */
export function* validatePodUpdate(pod: JsonObject, oldPod: JsonObject): Findings {
  yield* annotationChanges(pod, oldPod)
  const spec = objectOf(pod.spec)
  const old = objectOf(oldPod.spec)
  for (const kind of ['containers', 'initContainers']) {
    if (listOf(spec[kind]).length !== listOf(old[kind]).length) {
      yield field.forbidden(path.child(kind), 'pod updates may not add or remove containers')
      return
    }
    for (const [index, container] of listOf(spec[kind]).entries())
      if (textOf(container.image) === '') yield field.required(path.child(kind).index(index).child('image'))
  }
  const deadline = [...validateDeadline(spec, old)]
  yield* deadline
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return
  yield* validateAddedTolerations(spec, old)
  yield* validateDroppedGates(spec, old)
  if (sameSpec(spec, old)) return
  const munged = withOldValues(spec, old)
  if (listOf(old.schedulingGates).length > 0) yield* adoptNodeChoice(munged, old)
  if (!sameSpec(munged, old)) {
    const difference =
      isTooLongToCompare(old) || isTooLongToCompare(munged)
        ? ''
        : diffValues(goValue('PodSpec', old), goValue('PodSpec', munged))
    const message = `pod updates may not change fields other than ${updatable}\n${difference}`
    yield field.forbidden(path, message)
  }
}

function* validateDeadline(spec: JsonObject, old: JsonObject): Findings {
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

function* validateAddedTolerations(spec: JsonObject, old: JsonObject): Findings {
  const textOfToleration = ({ key, operator, value, effect }: JsonObject) =>
    JSON.stringify([key, operator, value, effect])
  const wanted = new Set(listOf(spec.tolerations).map(textOfToleration))
  for (const toleration of listOf(old.tolerations)) {
    if (wanted.has(textOfToleration(toleration))) continue
    const message = 'existing toleration can not be modified except its tolerationSeconds'
    yield field.forbidden(path.child('tolerations'), message)
    return
  }
}

function* validateDroppedGates(spec: JsonObject, old: JsonObject): Findings {
  const before = new Set(listOf(old.schedulingGates).map(({ name }) => textOf(name)))
  for (const [index, gate] of listOf(spec.schedulingGates).entries()) {
    const name = textOf(gate.name)
    if (before.has(name)) continue
    const message = `only deletion is allowed, but found new scheduling gate '${name}'`
    yield field.forbidden(path.child('schedulingGates').index(index).child('name'), message)
  }
}

/** A copy of `spec` with everything that may change as it was. */
function withOldValues(spec: JsonObject, old: JsonObject): JsonObject {
  const munged: JsonObject = { ...spec }
  for (const kind of ['containers', 'initContainers']) {
    if (spec[kind] === undefined) continue
    munged[kind] = listOf(spec[kind]).map((container, index) => ({
      ...container,
      image: listOf(old[kind])[index]!.image,
    }))
  }
  for (const member of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) copy(munged, old, member)
  const grace = old.terminationGracePeriodSeconds
  if (Number(grace ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1)
    munged.terminationGracePeriodSeconds = grace
  return munged
}

function copy(target: JsonObject, source: JsonObject, member: string): void {
  if (source[member] === undefined) delete target[member]
  else target[member] = source[member]
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'

/** Where a pod that is not to be scheduled yet may run can still be narrowed. */
function* adoptNodeChoice(munged: JsonObject, old: JsonObject): Findings {
  const selector = recordOf(munged.nodeSelector)
  const narrowed = Object.entries(recordOf(old.nodeSelector)).every(([key, value]) => selector[key] === value)
  if (!narrowed) {
    const message = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    yield field.invalid(path.child('nodeSelector'), munged.nodeSelector ?? null, message)
  }
  copy(munged, old, 'nodeSelector')
  const before = objectOf(old.affinity).nodeAffinity
  const now = objectOf(munged.affinity).nodeAffinity
  if (deepEqual(before ?? null, now ?? null)) return
  yield* validateNodeAffinityChange(objectOf(now), objectOf(before))
  const affinity: JsonObject = { ...objectOf(munged.affinity) }
  copy(affinity, objectOf(old.affinity), 'nodeAffinity')
  if (Object.keys(affinity).length === 0 && old.affinity === undefined) delete munged.affinity
  else munged.affinity = affinity
}

function* validateNodeAffinityChange(now: JsonObject, before: JsonObject): Findings {
  const oldTerms = listOf(objectOf(before[required]).nodeSelectorTerms)
  const terms = listOf(objectOf(now[required]).nodeSelectorTerms)
  const at = path.child('affinity', 'nodeAffinity', required, 'nodeSelectorTerms')
  if (oldTerms.length === 0) return
  const goTerm = (term: JsonObject) => goValue('NodeSelectorTerm', term)
  if (oldTerms.length !== terms.length) {
    const message = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    yield field.invalid(at, printed(terms.map(goTerm)), message)
    return
  }
  for (const [index, old] of oldTerms.entries()) {
    const term = terms[index]!
    const grows = ['matchExpressions', 'matchFields'].every(member => {
      const kept = listOf(term[member]).slice(0, listOf(old[member]).length)
      return deepEqual(kept, listOf(old[member]))
    })
    const wasEmpty = listOf(old.matchExpressions).length + listOf(old.matchFields).length === 0
    const isEmpty = listOf(term.matchExpressions).length + listOf(term.matchFields).length === 0
    if (!grows || (wasEmpty && !isEmpty)) {
      const message = 'only additions are allowed (no mutations or deletions)'
      yield field.invalid(at.index(index), printed(goTerm(term)), message)
    }
  }
}

/** Ephemeral containers only come; there is no way back. */
export function* validateEphemeralContainersUpdate(pod: JsonObject, old: JsonObject): Findings {
  yield* annotationChanges(pod, old)
  const at = path.child('ephemeralContainers')
  const byName = new Map(
    listOf(objectOf(pod.spec).ephemeralContainers).map(container => [textOf(container.name), container]),
  )
  for (const container of listOf(objectOf(old.spec).ephemeralContainers)) {
    const name = textOf(container.name)
    const now = byName.get(name)
    if (!now)
      yield field.forbidden(at, `existing ephemeral containers ${JSON.stringify(name)} may not be removed\n`)
    else if (!deepEqual(now, container))
      yield field.forbidden(
        at,
        `existing ephemeral containers ${JSON.stringify(name)} may not be changed\n${diffValues(
          goValue('EphemeralContainer', container),
          goValue('EphemeralContainer', now),
        )}`,
      )
  }
}

/** A pod that a node runs by itself can be seen and not changed; the only error then. */
export function refuseStatic(old: JsonObject, message: string): FieldError[] | undefined {
  const annotations = recordOf(objectOf(old.metadata).annotations)
  if (annotations[mirrorAnnotation] === undefined) return undefined
  return [field.forbidden(field.Path.of(''), message)]
}
