import type { NodeView } from '@coxswain/kinds'

const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers'
/** Set by the cluster autoscaler on nodes that it is about to delete. */
const toBeDeleted = 'ToBeDeletedByClusterAutoscaler'
/** The strings that Go parses as false. */
const falsehoods = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE'])

/** Whether a node's labels allow traffic from load balancers. */
export function isIncluded({ metadata }: NodeView): boolean {
  const value = metadata.labels?.[excluded]
  return value === undefined || falsehoods.has(value)
}

/** The nodes behind load balancers, ready or not: health checks decide about traffic. */
export function loadBalancedNodes(nodes: readonly NodeView[]): NodeView[] {
  return nodes.filter(
    node =>
      !node.metadata.deletionTimestamp &&
      isIncluded(node) &&
      !node.spec?.taints?.some(({ key }) => key === toBeDeleted),
  )
}

/** Identifies a set of nodes: load balancers need no update while it is unchanged. */
export function fingerprintOf(nodes: readonly NodeView[]): string {
  return nodes
    .map(({ metadata, spec }) => `${metadata.name} ${spec?.providerID ?? ''}`)
    .sort()
    .join('\n')
}
