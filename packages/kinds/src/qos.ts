import type { PodSpec, ResourceRequirements } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import type { ResourceList } from './amounts.ts'

/** How a Pod ranks when a node runs out of resources. */
export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort'
type SpecView = Pick<DeepReadonly<PodSpec>, 'containers' | 'initContainers' | 'resources'>
type Requirements = DeepReadonly<ResourceRequirements>

const counted = ['cpu', 'memory'] as const

/** Adds cpu and memory where they are more than zero; returns how many of the two are. */
function addTo(sums: Map<string, Quantity>, list: ResourceList | undefined): number {
  let found = 0
  for (const name of counted) {
    const amount = list?.[name] === undefined ? undefined : parseQuantity(list[name])
    if (!amount || amount.sign <= 0) continue
    sums.set(name, (sums.get(name) ?? Quantity.zero).add(amount))
    found++
  }
  return found
}

/**
 * Guaranteed when every container has limits of cpu and memory that equal its requests, BestEffort when none has either,
 * else Burstable. Resources of the Pod as a whole are decisive where there are any.
 */
export function computeQosClass(spec: SpecView): QosClass {
  const requests = new Map<string, Quantity>()
  const limits = new Map<string, Quantity>()
  let isLimited = true
  for (const resources of decisiveResources(spec)) {
    addTo(requests, resources?.requests)
    if (addTo(limits, resources?.limits) < counted.length) isLimited = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  const isGuaranteed =
    isLimited &&
    requests.size === limits.size &&
    [...requests].every(([name, amount]) => limits.get(name)?.equals(amount))
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

function decisiveResources({
  containers,
  initContainers,
  resources,
}: SpecView): readonly (Requirements | undefined)[] {
  const names = { ...resources?.requests, ...resources?.limits }
  if (Object.keys(names).length > 0) return [resources]
  return [...(containers ?? []), ...(initContainers ?? [])].map(container => container.resources)
}

/** The class that a Pod was given when it was created; computed where its status does not say. */
export function qosClassOf(pod: {
  readonly spec: SpecView
  readonly status?: { readonly qosClass?: QosClass }
}): QosClass {
  return pod.status?.qosClass || computeQosClass(pod.spec)
}
