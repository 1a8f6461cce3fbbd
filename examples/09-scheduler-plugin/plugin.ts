/** A scheduler plug-in: nodes have a price, pods have a budget, and the cheaper node is the better one. */
import { type NodeInfo, normalizeToHighest, type SchedulerPlugin, unresolvable } from '@coxswain/scheduler'

const priceOf = ({ labels }: NodeInfo) => Number(labels['example.com/price'] ?? 0)

const plugin: SchedulerPlugin = {
  name: 'Price',
  filter: ({ pod: { pod } }, node) => {
    const budget = Number(pod.metadata.annotations?.['example.com/budget'] ?? Number.POSITIVE_INFINITY)
    return priceOf(node) > budget ? unresolvable('node(s) were too expensive') : undefined
  },
  score: (_, node) => priceOf(node),
  normalize: (_, scores) => normalizeToHighest(scores, true),
}
export default plugin
