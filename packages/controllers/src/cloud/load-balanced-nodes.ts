import type { NodeView } from '@coxswain/kinds'

const excluded = 'node.kubernetes.io/exclude-from-external-load-balancers'
/** The cluster autoscaler puts it on nodes that it is about to delete. */
const toBeDeleted = 'ToBeDeletedByClusterAutoscaler'
/** What Go reads as false. */
const falsehoods = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE'])

/** Whether a node's labels let load balancers send it anything. */
export function isIncluded({ metadata }: NodeView): boolean {
  const value = metadata.labels?.[excluded]
  return value === undefined || falsehoods.has(value)
}

/** Those that load balancers should know: whether they are ready is what their health checks find out. */
export function loadBalancedNodes(nodes: readonly NodeView[]): NodeView[] {
  return nodes.filter(
    node =>
      !node.metadata.deletionTimestamp &&
      isIncluded(node) &&
      !node.spec?.taints?.some(({ key }) => key === toBeDeleted),
  )
}

/** Two sets of nodes with the same fingerprint are the same to load balancers. */
export function fingerprintOf(nodes: readonly NodeView[]): string {
  return nodes
    .map(({ metadata, spec }) => `${metadata.name} ${spec?.providerID ?? ''}`)
    .sort()
    .join('\n')
}
