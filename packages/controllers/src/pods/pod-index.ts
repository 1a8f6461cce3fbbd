import { Pod } from '@coxswain/api/core/v1'
import {
  type ApiObject,
  type DeepReadonly,
  getControllerOf,
  type ObjectKey,
} from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { Lookup, OperatorBuilder, OperatorClient } from '@coxswain/runtime'

const field = 'controller'

const orphansOf = (namespace = '') => `orphans/${namespace}`

const byController = (pod: PodView): string[] => [
  getControllerOf(pod)?.uid ?? orphansOf(pod.metadata.namespace),
]

/** Indexes pods by controller. */
export function indexPods(operator: OperatorBuilder): void {
  operator.index(Pod, field, byController)
}

/** The pods that `owner` controls, and the orphans in its namespace. */
export async function listPodsFor(
  client: OperatorClient,
  { metadata }: DeepReadonly<ApiObject>,
): Promise<PodView[]> {
  const owned = await client.list(Pod, { fields: { [field]: metadata.uid } })
  const orphans = await client.list(Pod, { fields: { [field]: orphansOf(metadata.namespace) } })
  return [...owned.items, ...orphans.items]
}

/** The pods that the object with this uid controls. */
export async function listPodsOf(client: OperatorClient, uid: string): Promise<readonly PodView[]> {
  return (await client.list(Pod, { fields: { [field]: uid } })).items
}

/** Their keys, for mapping functions. */
export function listPodKeysOf(lookup: Lookup, uid: string): ObjectKey[] {
  const pods = lookup.list(Pod, { fields: { [field]: uid } })
  return pods.map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
}

const nodeField = 'node'
const byNode = ({ spec }: PodView): string[] => [spec.nodeName ?? '']

/** Indexes pods by node. */
export function indexPodsByNode(operator: OperatorBuilder): void {
  operator.index(Pod, nodeField, byNode)
}

export async function listPodsOn(client: OperatorClient, node: string): Promise<readonly PodView[]> {
  return (await client.list(Pod, { fields: { [nodeField]: node } })).items
}

/** The keys of the pods on a node, for mapping functions. */
export function listPodKeysOn(lookup: Lookup, node: string): ObjectKey[] {
  const pods = lookup.list(Pod, { fields: { [nodeField]: node } })
  return pods.map(({ metadata: { namespace = '', name } }) => ({ namespace, name }))
}
