import type { Container, Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import type { ContainerRecord } from './container-record.ts'
import type { WorkerContext } from './worker-context.ts'

export interface PendingResize {
  readonly reason: string
  readonly message: string
}

interface ResizeAnswer {
  /** Whether allocated resources have changed. */
  readonly hasChanged: boolean
  /** Why the node cannot apply it. */
  readonly pending: PendingResize | undefined
  /** Containers that have to be restarted for it. */
  readonly restarts: readonly ContainerRecord[]
}

const resizable = ['cpu', 'memory']

interface NodeRoom {
  /** The node's capacity. */
  readonly capacity: Readonly<Record<string, string>>
  /** The allocated resources of its other Pods, in thousandths. */
  used(resource: string): number
}

/** In-place resize of a Pod: desired, allocated and pending resources. */
export class Resizing {
  readonly #context: WorkerContext
  #pending: PendingResize | undefined

  constructor(context: WorkerContext) {
    this.#context = context
  }

  /** Why the node has not applied it yet. */
  get pending(): PendingResize | undefined {
    return this.#pending
  }

  /** Applies what fits, with events. Returns the containers that have to be restarted for it. */
  take(pod: DeepReadonly<Pod>, records: readonly ContainerRecord[]): readonly ContainerRecord[] {
    const { capacity, events, load, usedByOthers } = this.#context
    const { hasChanged, pending, restarts } = agreeToResize(pod, records, {
      capacity,
      used: resource => usedByOthers(pod.metadata.uid, resource),
    })
    if (pending && pending.message !== this.#pending?.message)
      events.warning(pod, `Resize${pending.reason}`, describeResize(pod, pending.reason, pending.message))
    if (hasChanged) {
      events.normal(pod, 'ResizeStarted', describeResize(pod, 'started'))
      events.normal(pod, 'ResizeCompleted', describeResize(pod, 'completed'))
    }
    this.#pending = pending
    if (!pending) load.change(pod)
    return restarts
  }
}

/** Allocates the resources in the Pod's spec to running containers, unless they are infeasible or have to be deferred. */
function agreeToResize(
  pod: DeepReadonly<Pod>,
  records: readonly ContainerRecord[],
  { capacity, used }: NodeRoom,
): ResizeAnswer {
  const wanted = [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
  const changed = records.flatMap(record => {
    const container = wanted.find(({ name }) => name === record.container.name)
    if (!container || deepEqual(container.resources ?? {}, record.container.resources ?? {})) return []
    return [{ record, container }]
  })
  if (changed.length === 0) return { hasChanged: false, pending: undefined, restarts: [] }
  for (const resource of resizable) {
    const requested = pod.spec.containers.reduce((sum, container) => sum + requestOf(container, resource), 0)
    const taken = used(resource)
    const has = milliOf(capacity[resource] ?? '0')
    if (requested + taken <= has) continue
    const unit = resource === 'cpu' ? 1 : 1000
    const [is, others, most] = [requested / unit, taken / unit, has / unit]
    return requested > has
      ? refuse(
          'Infeasible',
          `Node didn't have enough capacity: ${resource}, requested: ${is}, capacity: ${most}`,
        )
      : refuse(
          'Deferred',
          `Node didn't have enough resource: ${resource}, requested: ${is}, used: ${others}, capacity: ${most}`,
        )
  }
  const restarts: ContainerRecord[] = []
  for (const { record, container } of changed) {
    const before = record.container
    record.container = container
    const needsRestart = container.resizePolicy?.some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' && differs(before, container, resourceName),
    )
    if (needsRestart && record.state.running) restarts.push(record)
  }
  return { hasChanged: true, pending: undefined, restarts }
}

/** The message of a resize event, with the desired resources. */
function describeResize({ metadata, spec }: DeepReadonly<Pod>, how: string, error?: string): string {
  const list = (containers: DeepReadonly<Container[]> = []) =>
    containers.length > 0 ? containers.map(({ name, resources = {} }) => ({ name, resources })) : undefined
  const summary = {
    initContainers: list(spec.initContainers),
    containers: list(spec.containers),
    generation: metadata.generation,
    error,
  }
  return `Pod resize ${how}: ${JSON.stringify(summary)}`
}

function refuse(reason: string, message: string): ResizeAnswer {
  return { hasChanged: false, pending: { reason, message }, restarts: [] }
}

function differs(a: DeepReadonly<Container>, b: DeepReadonly<Container>, resource: string): boolean {
  const of = ({ resources }: DeepReadonly<Container>) => [
    resources?.requests?.[resource],
    resources?.limits?.[resource],
  ]
  return !deepEqual(of(a), of(b))
}

/** In thousandths. */
export function requestOf({ resources }: DeepReadonly<Container>, resource: string): number {
  return milliOf(resources?.requests?.[resource] ?? '0')
}

function milliOf(quantity: string): number {
  return Number(parseQuantity(quantity).milliValue)
}
