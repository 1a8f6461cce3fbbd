import { Node } from '@coxswain/api/core/v1'
import { parseInt64 } from '@coxswain/apimachinery/go'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { createChannel, defineOperator, type Operator } from '@coxswain/runtime'

const annotation = 'node.alpha.kubernetes.io/ttl'

/**
 * How long kubelets may cache secrets and config maps, by the number of nodes. Steps overlap, so that one node more or less does
 * not matter.
 */
const steps = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1_000, seconds: 30 },
  { least: 900, most: 2_000, seconds: 60 },
  { least: 1_800, most: Number.POSITIVE_INFINITY, seconds: 300 },
] as const

const ttlOf = ({ metadata }: DeepReadonly<Node>) => metadata.annotations?.[annotation]

/** Sets on every node how long its kubelet may cache objects: the more nodes, the longer. */
export function createTtlController(): Operator {
  return defineOperator('ttl-controller', operator => {
    let at = 0
    const allNodes = createChannel()
    operator
      .controller('node-ttl')
      .for(Node, {
        predicates: [event => event.type !== 'update' || ttlOf(event.old) !== ttlOf(event.object)],
      })
      .channel(allNodes)
      .reconcile(async ({ client, key }) => {
        const { items } = await client.list(Node)
        const before = at
        while (items.length > steps[at]!.most) at++
        while (items.length < steps[at]!.least) at--
        if (at !== before) for (const { metadata } of items) allNodes.send({ name: metadata.name })
        const node = items.find(({ metadata }) => metadata.name === key.name)
        const { seconds } = steps[at]!
        if (!node || parseInt64(ttlOf(node) ?? '') === BigInt(seconds)) return
        const metadata = { uid: node.metadata.uid, annotations: { [annotation]: String(seconds) } }
        await client.patch(Node, key, { metadata }, { type: 'merge' })
      })
  })
}
