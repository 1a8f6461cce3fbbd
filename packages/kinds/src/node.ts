import type { Node, NodeCondition } from '@coxswain/api/core/v1'
import { type DeepReadonly, findStatusCondition } from '@coxswain/apimachinery/meta'

/** A Node as caches and listers return it. */
export type NodeView = DeepReadonly<Node>

type StatusOnly = { readonly status?: NodeView['status'] | undefined }

/** The Ready condition; undefined when the kubelet has not reported yet. */
export function nodeReadyCondition({ status }: StatusOnly): DeepReadonly<NodeCondition> | undefined {
  return findStatusCondition(status?.conditions, 'Ready')
}

/** Whether the Ready condition is True. */
export function isNodeReady(node: StatusOnly): boolean {
  return nodeReadyCondition(node)?.status === 'True'
}
