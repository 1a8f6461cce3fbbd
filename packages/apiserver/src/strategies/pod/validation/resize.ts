import { type FieldError, field } from '@coxswain/apimachinery'
import type { JsonObject } from '../../../json.ts'
import { qosClassOf } from '../qos.ts'
import { refuseStatic } from './pod-update.ts'
import { type Findings, listOf, objectOf, recordOf, textOf } from './reading.ts'
import { sameSpec } from './semantic.ts'

const path = field.Path.of('spec')
const resizable = ['cpu', 'memory']
const onlyComputing = 'only cpu and memory resources are mutable'

/** What is wrong with new amounts of cpu and memory for the containers of a pod. */
export function validateResize(pod: JsonObject, old: JsonObject): FieldError[] {
  const refused = refuseStatic(old, 'static pods cannot be resized')
  if (refused) return refused
  if (objectOf(objectOf(old.spec).os).name === 'windows')
    return [field.forbidden(field.Path.of(''), 'windows pods cannot be resized')]
  const spec = objectOf(pod.spec)
  const before = objectOf(old.spec)
  const errors: FieldError[] = []
  const { qosClass } = objectOf(old.status)
  if ((qosClass ?? qosClassOf(old)) !== qosClassOf(pod)) {
    const message = 'Pod QOS Class may not change as a result of resizing'
    errors.push(field.invalid(path, textOf(objectOf(pod.status).qosClass), message))
  }
  if (!nodeCanResize(old))
    errors.push(field.forbidden(path, 'Pod running on node without support for resize'))
  for (const error of validatePodLevel(spec, before)) errors.push(error)
  if (listOf(objectOf(old.status).nodeAllocatableResourceClaimStatuses).length > 0)
    errors.push(field.forbidden(path, 'pods with node allocatable resource claims cannot be resized'))
  const order = [...validateOrder(spec, before)]
  for (const error of order) errors.push(error)
  if (order.length > 0) return errors
  for (const error of validateRemovals(spec, before)) errors.push(error)
  for (const error of validateMutability(spec, before)) errors.push(error)
  if (errors.length === 0 && !sameSpec(withOldAmounts(spec, before), before))
    errors.push(field.forbidden(path, onlyComputing))
  return errors
}

/** Only a node that reports the resources of its containers can change them. */
function nodeCanResize(old: JsonObject): boolean {
  const running = listOf(objectOf(old.status).containerStatuses).find(
    ({ state }) => objectOf(state).running !== undefined,
  )
  return !running || running.resources !== undefined
}

function* validatePodLevel(spec: JsonObject, before: JsonObject): Findings {
  const isSet = ({ resources }: JsonObject) => {
    const { requests, limits } = objectOf(resources)
    return Object.keys(recordOf(requests)).length + Object.keys(recordOf(limits)).length > 0
  }
  if (!isSet(spec) && !isSet(before)) return
  const at = path.child('resources')
  if (before.resources !== undefined && spec.resources === undefined) {
    yield field.forbidden(at, 'pod-level resources cannot be removed')
    return
  }
  for (const kind of ['requests', 'limits']) {
    if (isRemoved(objectOf(spec.resources)[kind], objectOf(before.resources)[kind]))
      yield field.forbidden(at.child(kind), `pod-level resource ${kind} cannot be removed`)
  }
  if (!sameSpec(withOldComputing(spec.resources, before.resources), objectOf(before.resources)))
    yield field.forbidden(path, 'only cpu and memory resources are mutable at pod-level')
}

function* validateOrder(spec: JsonObject, before: JsonObject): Findings {
  for (const kind of ['containers', 'initContainers']) {
    const old = listOf(before[kind])
    const now = listOf(spec[kind])
    if (now.length !== old.length) {
      yield field.forbidden(path.child(kind), `${kind} may not be added or removed on resize`)
      continue
    }
    for (const [index, container] of old.entries()) {
      if (now[index]!.name === container.name) continue
      const at = path.child(kind).index(index).child('name')
      yield field.forbidden(at, `${kind} may not be renamed or reordered on resize`)
    }
  }
}

function isRemoved(now: unknown, before: unknown): boolean {
  const amounts = recordOf(now)
  return Object.keys(recordOf(before)).some(name => !Object.hasOwn(amounts, name))
}

function* validateRemovals(spec: JsonObject, before: JsonObject): Findings {
  for (const kind of ['initContainers', 'containers']) {
    for (const [index, old] of listOf(before[kind]).entries()) {
      const now = objectOf(listOf(spec[kind])[index]!.resources)
      for (const amounts of ['requests', 'limits']) {
        if (!isRemoved(now[amounts], objectOf(old.resources)[amounts])) continue
        const at = path.child(kind).index(index).child('resources', amounts)
        yield field.forbidden(at, `resource ${amounts} cannot be removed`)
      }
    }
  }
}

function* validateMutability(spec: JsonObject, before: JsonObject): Findings {
  for (const [index, container] of listOf(spec.containers).entries()) {
    const old = listOf(before.containers)[index]!
    if (!sameSpec(withOldContainer(container, old), old)) yield field.forbidden(path, onlyComputing)
  }
  for (const [index, container] of listOf(spec.initContainers).entries()) {
    const old = listOf(before.initContainers)[index]!
    const at = path.child('initContainers').index(index)
    if (!sameSpec(withOldContainer(container, old), old)) {
      const message = 'only cpu and memory resources for init or sidecar containers are mutable'
      yield field.forbidden(at, message)
    }
    if (container.restartPolicy === 'Always' || sameSpec(container, old)) continue
    for (const policy of listOf(container.resizePolicy)) {
      if (policy.restartPolicy !== 'RestartContainer') continue
      const message = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
      yield field.forbidden(at, message)
    }
  }
}

function withOldContainer(container: JsonObject, old: JsonObject): JsonObject {
  const { claims: _, ...resources } = objectOf(withOldComputing(container.resources, old.resources))
  return { ...container, resources }
}

/** Resources with cpu and memory as they were. */
function withOldComputing(now: unknown, before: unknown): JsonObject {
  const result: JsonObject = { ...objectOf(now) }
  for (const kind of ['limits', 'requests']) {
    const amounts: Record<string, string> = { ...recordOf(result[kind]) }
    const old = recordOf(objectOf(before)[kind])
    for (const name of resizable) {
      delete amounts[name]
      if (old[name] !== undefined) amounts[name] = old[name]
    }
    if (Object.keys(amounts).length > 0 || objectOf(before)[kind] !== undefined) result[kind] = amounts
    else delete result[kind]
  }
  return result
}

function withOldAmounts(spec: JsonObject, before: JsonObject): JsonObject {
  const result: JsonObject = { ...spec }
  for (const kind of ['containers', 'initContainers']) {
    if (spec[kind] === undefined) continue
    result[kind] = listOf(spec[kind]).map((container, index) =>
      withOldContainer(container, listOf(before[kind])[index]!),
    )
  }
  if (before.resources === undefined) delete result.resources
  else result.resources = before.resources
  return result
}
