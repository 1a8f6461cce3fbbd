import { Node } from '@coxswain/api/core/v1'
import type { Cluster } from '../cluster.ts'

type Taints = readonly { readonly key: string; readonly effect: string }[]

/** A node that pods can go to: with room, ready, and without the taint that new nodes have. */
export async function addNode(
  cluster: Cluster,
  name: string,
  { labels = {}, taints = [] }: { labels?: Readonly<Record<string, string>>; taints?: Taints } = {},
): Promise<void> {
  const { client, run } = cluster
  const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels } }
  const node = await run(client.create(Node, { metadata }))
  const allocatable = { cpu: '8', memory: '16Gi', pods: '100' }
  const conditions = [{ type: 'Ready', status: 'True' as const }]
  const status = { capacity: allocatable, allocatable, conditions }
  await run(client.updateStatus(Node, { ...node, status }))
  await setTaints(cluster, name, taints)
}

export async function setTaints({ client, run }: Cluster, name: string, taints: Taints): Promise<void> {
  await run(client.patch(Node, { name }, { spec: { taints } }, { type: 'merge' }))
}
