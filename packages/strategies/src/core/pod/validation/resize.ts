import type { Container, Pod, PodSpec, ResourceRequirements } from '@coxswain/api/core/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { computeQosClass } from '@coxswain/kinds'
import type { Decoded } from '../../../decoded.ts'
import type { Findings } from '../../../shared/reading.ts'
import { refuseStatic } from './pod-update.ts'
import { sameSpec } from './semantic.ts'

const path = field.Path.of('spec')
const resizable = ['cpu', 'memory']
const amountKinds = ['requests', 'limits'] as const
const onlyComputing = 'only cpu and memory resources are mutable'

/** The errors of a resize: new requests and limits of cpu and memory. */
export function validateResize(pod: Decoded<Pod>, old: Decoded<Pod>): FieldError[] {
  const refused = refuseStatic(old, 'static pods cannot be resized')
  if (refused) return refused
  if (old.spec?.os?.name === 'windows')
    return [field.forbidden(field.Path.of(''), 'windows pods cannot be resized')]
  const spec = pod.spec ?? {}
  const before = old.spec ?? {}
  const errors: FieldError[] = []
  const classOf = (given: Decoded<PodSpec>) => computeQosClass(given as PodSpec)
  if ((old.status?.qosClass ?? classOf(before)) !== classOf(spec)) {
    const message = 'Pod QOS Class may not change as a result of resizing'
    errors.push(field.invalid(path, pod.status?.qosClass ?? '', message))
  }
  if (!nodeCanResize(old))
    errors.push(field.forbidden(path, 'Pod running on node without support for resize'))
  for (const error of validatePodLevel(spec, before)) errors.push(error)
  if ((old.status?.nodeAllocatableResourceClaimStatuses ?? []).length > 0)
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
function nodeCanResize({ status }: Decoded<Pod>): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined)
  return !running || running.resources !== undefined
}

function* validatePodLevel(spec: Decoded<PodSpec>, before: Decoded<PodSpec>): Findings {
  const isSet = ({ resources }: Decoded<PodSpec>) =>
    amountKinds.some(kind => Object.keys(resources?.[kind] ?? {}).length > 0)
  if (!isSet(spec) && !isSet(before)) return
  const at = path.child('resources')
  if (before.resources !== undefined && spec.resources === undefined) {
    yield field.forbidden(at, 'pod-level resources cannot be removed')
    return
  }
  for (const kind of amountKinds) {
    if (isRemoved(spec.resources?.[kind], before.resources?.[kind]))
      yield field.forbidden(at.child(kind), `pod-level resource ${kind} cannot be removed`)
  }
  if (!sameSpec(withOldComputing(spec.resources, before.resources), before.resources ?? {}))
    yield field.forbidden(path, 'only cpu and memory resources are mutable at pod-level')
}

function* validateOrder(spec: Decoded<PodSpec>, before: Decoded<PodSpec>): Findings {
  for (const kind of ['containers', 'initContainers'] as const) {
    const old = before[kind] ?? []
    const now = spec[kind] ?? []
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

type Amounts = Readonly<Record<string, string>> | null | undefined

function isRemoved(now: Amounts, before: Amounts): boolean {
  const amounts = now ?? {}
  return Object.keys(before ?? {}).some(name => !Object.hasOwn(amounts, name))
}

function* validateRemovals(spec: Decoded<PodSpec>, before: Decoded<PodSpec>): Findings {
  for (const kind of ['initContainers', 'containers'] as const) {
    for (const [index, old] of (before[kind] ?? []).entries()) {
      const now = spec[kind]![index]!.resources
      for (const amounts of amountKinds) {
        if (!isRemoved(now?.[amounts], old.resources?.[amounts])) continue
        const at = path.child(kind).index(index).child('resources', amounts)
        yield field.forbidden(at, `resource ${amounts} cannot be removed`)
      }
    }
  }
}

function* validateMutability(spec: Decoded<PodSpec>, before: Decoded<PodSpec>): Findings {
  for (const [index, container] of (spec.containers ?? []).entries()) {
    const old = before.containers![index]!
    if (!sameSpec(withOldContainer(container, old), old)) yield field.forbidden(path, onlyComputing)
  }
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const old = before.initContainers![index]!
    const at = path.child('initContainers').index(index)
    if (!sameSpec(withOldContainer(container, old), old)) {
      const message = 'only cpu and memory resources for init or sidecar containers are mutable'
      yield field.forbidden(at, message)
    }
    if (container.restartPolicy === 'Always' || sameSpec(container, old)) continue
    for (const policy of container.resizePolicy ?? []) {
      if (policy.restartPolicy !== 'RestartContainer') continue
      const message = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
      yield field.forbidden(at, message)
    }
  }
}

function withOldContainer(container: Decoded<Container>, old: Decoded<Container>): Decoded<Container> {
  const { claims: _, ...resources } = withOldComputing(container.resources, old.resources)
  return { ...container, resources }
}

type Requirements = Decoded<ResourceRequirements>

/** Resources with cpu and memory as they were. */
function withOldComputing(now: Requirements | undefined, before: Requirements | undefined): Requirements {
  const result: Requirements = { ...now }
  for (const kind of amountKinds) {
    const amounts: Record<string, string> = { ...result[kind] }
    const old = before?.[kind]
    for (const name of resizable) {
      delete amounts[name]
      if (old?.[name] !== undefined) amounts[name] = old[name]
    }
    if (Object.keys(amounts).length > 0 || old !== undefined) result[kind] = amounts
    else delete result[kind]
  }
  return result
}

function withOldAmounts(spec: Decoded<PodSpec>, before: Decoded<PodSpec>): Decoded<PodSpec> {
  const result = { ...spec }
  for (const kind of ['containers', 'initContainers'] as const) {
    if (!spec[kind]) continue
    result[kind] = spec[kind].map((container, index) => withOldContainer(container, before[kind]![index]!))
  }
  if (before.resources === undefined) delete result.resources
  else result.resources = before.resources
  return result
}
