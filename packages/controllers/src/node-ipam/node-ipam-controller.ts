import { Node } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { CIDR } from '@coxswain/apimachinery/validation'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { parseRanges, RangeSet } from './range-set.ts'

/** Options of {@link createNodeIpamController}. */
export interface NodeIpamOptions {
  /** The ranges of all pods: one, or one of each family. */
  readonly clusterCIDRs: readonly CIDR[]
  /** The prefix length of a node's range, for each of them. @default 24, for IPv6 64 */
  readonly nodeMaskSizes?: readonly number[]
  /** Ranges of service addresses, which are not allocated to nodes. */
  readonly serviceCIDRs?: readonly CIDR[]
}

const defaultMaskSize = ({ address }: CIDR) => (address.bytes.length === 4 ? 24 : 64)

/**
 * Allocates a pod CIDR to every node. Nodes hold the allocations; only the position of the next one is remembered.
 * @throws if a range cannot be split into node ranges
 */
export function createNodeIpamController(options: NodeIpamOptions): Operator {
  const { clusterCIDRs, nodeMaskSizes, serviceCIDRs = [] } = options
  const cut = () =>
    clusterCIDRs.map((range, index) => new RangeSet(range, nodeMaskSizes?.[index] ?? defaultMaskSize(range)))
  cut()
  return defineOperator('node-ipam-controller', operator => {
    const sets = cut()
    operator
      .controller('node-ipam')
      .for(Node)
      .watches(Node, (_, lookup) => lookup.list(Node).filter(hasNone).map(keyOf), {
        predicates: [({ type, object }) => type === 'delete' && !hasNone(object)],
      })
      .options({ eventSource: 'cidrAllocator' })
      .reconcile(context => reconcile(context, sets, serviceCIDRs))
  })
}

const hasNone = ({ spec }: DeepReadonly<Node>) => !spec?.podCIDRs?.length
const keyOf = ({ metadata: { name } }: DeepReadonly<Node>) => ({ name })

/** One node at a time, so that each sees the allocations of the previous ones. */
async function reconcile(
  { client, key, events }: ReconcileContext,
  sets: readonly RangeSet[],
  serviceCIDRs: readonly CIDR[],
): Promise<void> {
  const node = await client.get(Node, key)
  if (!node || node.metadata.deletionTimestamp || !hasNone(node)) return
  const { name, uid } = node.metadata
  const recordEvent = (reason: string) => events.normal(node, reason, `Node ${name} status is now: ${reason}`)
  const { items } = await client.list(Node)
  const taken = [...serviceCIDRs, ...items.flatMap(({ spec }) => parseRanges(spec?.podCIDRs ?? []))]
  const podCIDRs = sets.map(set => {
    const block = set.allocate(taken)
    if (block !== undefined) return block
    recordEvent('CIDRNotAvailable')
    throw new Error(`no pod CIDR is available for node ${name}`)
  })
  // A range that is set never changes, so the uid is enough: the kubelet may update its node meanwhile.
  const patch = { metadata: { uid }, spec: { podCIDR: podCIDRs[0], podCIDRs } }
  try {
    await client.patch(Node, key, patch, { type: 'merge' })
  } catch (error) {
    if (isNotFound(error)) return
    recordEvent('CIDRAssignmentFailed')
    throw error
  }
}
