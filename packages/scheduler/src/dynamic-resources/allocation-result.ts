import type {
  DeviceAllocationConfiguration,
  DeviceConfiguration,
  DeviceRequestAllocationResult,
} from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Quantity } from '@coxswain/apimachinery/quantity'
import type { ClaimView } from './device-id.ts'
import { type Alternatives, type Candidate, fullNameOf, type RequestPlan } from './request-plan.ts'
import type { AllocationResult, NodeSelector } from './types.ts'

/** A device that was allocated to a request. */
export interface GivenDevice {
  readonly plan: RequestPlan
  readonly candidate: Candidate
  /** Set for a device that can be shared. */
  readonly consumed?: ReadonlyMap<string, Quantity>
  readonly shareID?: string
}

type Result = DeepReadonly<DeviceRequestAllocationResult>
type Configuration = DeepReadonly<DeviceAllocationConfiguration>
type Requirement = NonNullable<NodeSelector['nodeSelectorTerms'][number]['matchFields']>[number]

/** The allocation for a claim's status. */
export function createAllocation(
  claim: ClaimView,
  requests: readonly Alternatives[],
  given: readonly GivenDevice[],
  node: string,
): AllocationResult {
  const config = [...configsOfClasses(requests), ...configsOfClaim(claim, requests)]
  const nodeSelector = createNodeSelector(given, node)
  return {
    devices: { results: given.map(createResult), ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  }
}

function createResult({ plan, candidate, consumed, shareID }: GivenDevice): Result {
  const { device, slice } = candidate
  const { bindingConditions, bindingFailureConditions } = device
  return {
    request: fullNameOf(plan),
    driver: slice.spec.driver,
    pool: slice.spec.pool.name,
    device: device.name,
    ...(plan.adminAccess && { adminAccess: true }),
    ...(plan.tolerations?.length && { tolerations: plan.tolerations }),
    ...(bindingConditions?.length && { bindingConditions }),
    ...(bindingFailureConditions?.length && { bindingFailureConditions }),
    ...(shareID !== undefined && { shareID }),
    ...(consumed?.size && {
      consumedCapacity: Object.fromEntries([...consumed].map(([name, amount]) => [name, String(amount)])),
    }),
  }
}

const opaqueOf = ({ opaque }: DeepReadonly<DeviceConfiguration>) => (opaque ? { opaque } : {})

/** The configuration of a class appears once, for all requests of that class. */
function configsOfClasses(requests: readonly Alternatives[]): Configuration[] {
  const byClass = new Map<string, RequestPlan[]>()
  for (const { plans, chosen } of requests) {
    const plan = plans[chosen]!
    const { name } = plan.class.metadata
    byClass.set(name, [...(byClass.get(name) ?? []), plan])
  }
  return [...byClass.values()].flatMap(plans =>
    (plans[0]!.class.spec.config ?? []).map(config => ({
      source: 'FromClass' as const,
      requests: plans.map(fullNameOf),
      ...opaqueOf(config),
    })),
  )
}

/** Those for all requests, or for one that was satisfied. */
function configsOfClaim({ spec }: ClaimView, requests: readonly Alternatives[]): Configuration[] {
  const used = requests.map(({ plans, chosen }) => plans[chosen]!)
  return (spec.devices?.config ?? []).flatMap(config => {
    const named = config.requests ?? []
    const entry = {
      source: 'FromClaim' as const,
      ...(named.length > 0 && { requests: named }),
      ...opaqueOf(config),
    }
    if (named.length === 0) return [entry]
    return used
      .filter(plan => named.includes(plan.request) || named.includes(fullNameOf(plan)))
      .map(() => entry)
  })
}

/** The nodes on which the devices can be used; undefined for all. */
function createNodeSelector(given: readonly GivenDevice[], node: string): NodeSelector | undefined {
  const matchFields: Requirement[] = []
  const matchExpressions: Requirement[] = []
  for (const { candidate } of given) {
    const { device, slice } = candidate
    const { nodeName, nodeSelector } = slice.spec.perDeviceNodeSelection ? device : slice.spec
    if (nodeName || device.bindsToNode) {
      const onlyNode = { key: 'metadata.name', operator: 'In' as const, values: [node] }
      return { nodeSelectorTerms: [{ matchFields: [onlyNode] }] }
    }
    const term = nodeSelector?.nodeSelectorTerms[0]
    addNew(matchFields, term?.matchFields)
    addNew(matchExpressions, term?.matchExpressions)
  }
  if (matchFields.length + matchExpressions.length === 0) return undefined
  const term = {
    ...(matchExpressions.length > 0 && { matchExpressions }),
    ...(matchFields.length > 0 && { matchFields }),
  }
  return { nodeSelectorTerms: [term] }
}

function addNew(to: Requirement[], from: readonly Requirement[] = []): void {
  const idOf = ({ key, operator, values = [] }: Requirement) =>
    JSON.stringify([key, operator, [...values].sort()])
  const known = new Set(to.map(idOf))
  for (const requirement of from) if (!known.has(idOf(requirement))) to.push(requirement)
}
