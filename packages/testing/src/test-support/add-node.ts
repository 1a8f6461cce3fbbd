import { Node } from '@coxswain/api/core/v1'
import type { Cluster } from '../cluster.ts'

/** A node that pods can go to: with room, and without the taint that new nodes have. */
export async function addNode(
  { client, run }: Cluster,
  name: string,
  taints: readonly { readonly key: string; readonly effect: string }[] = [],
): Promise<void> {
  const labels = { 'kubernetes.io/hostname': name }
  const node = await run(client.create(Node, { metadata: { name, labels } }))
  const allocatable = { cpu: '4', memory: '8Gi', pods: '10' }
  await run(client.updateStatus(Node, { ...node, status: { capacity: allocatable, allocatable } }))
  await run(client.patch(Node, { name }, { spec: { taints } }, { type: 'merge' }))
}
