import { DaemonSet } from '@coxswain/api/apps/v1'
import { Node } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { labels } from '../scenarios/workload.ts'
import { addNode } from '../side.ts'
import type { Stage } from '../stage.ts'
import { bystanders, endNamespace } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { podActions } from './pods-by-hand.ts'
import { recreate } from './recreate.ts'

/** Nodes are cluster-wide: each sequence has its own, and keeps to them. */
const names = ['a', 'b', 'c', 'd']
const nodeName = (stage: Stage, name: string) => `${stage.namespace}-${name}`
const template = (stage: Stage, image: string) => ({
  metadata: { labels },
  spec: { nodeSelector: { house: stage.namespace }, containers: [{ name: 'c', image }] },
})
const addOwn = (stage: Stage, name: string) =>
  addNode(stage.client, nodeName(stage, name), { house: stage.namespace })

const patch = (say: string, spec: object): Action => ({
  say: `${say} ${JSON.stringify(spec)}`,
  run: stage => stage.patch(DaemonSet, 'agent', { spec }),
})
/** On which node a rollout begins is chance: it must not get stuck there. */
const image = (draw: Draw) => draw.pick(['one', 'one', 'two', 'three'])
function drawStrategy(draw: Draw): object {
  if (draw.chance(0.2)) return { type: 'OnDelete', rollingUpdate: null }
  const rollingUpdate = draw.pick([
    { maxUnavailable: 1, maxSurge: 0 },
    { maxUnavailable: 2, maxSurge: 0 },
    { maxUnavailable: '50%', maxSurge: 0 },
    { maxUnavailable: 0, maxSurge: 1 },
    { maxUnavailable: 0, maxSurge: 2 },
    { maxUnavailable: 0, maxSurge: '50%' },
  ])
  return { type: 'RollingUpdate', rollingUpdate }
}
const setImage = (draw: Draw): Action => {
  const chosen = image(draw)
  return {
    say: `image ${chosen}`,
    run: stage => stage.patch(DaemonSet, 'agent', { spec: { template: template(stage, chosen) } }),
  }
}
/** The real controller does not look when a node goes, or comes back with its Pods: an annotation makes it look. */
const onNode = (draw: Draw, say: string, run: (stage: Stage, name: string) => Promise<unknown>): Action => {
  const name = draw.pick(names)
  return {
    say: `node ${name}: ${say}`,
    run: async stage => {
      await run(stage, nodeName(stage, name))
      await stage.settle(1_500)
      await stage.patch(DaemonSet, 'agent', { metadata: { annotations: { touched: `${name} ${say}` } } })
    },
  }
}
const patchNode = (draw: Draw, say: string, patched: object) =>
  onNode(draw, say, (stage, name) => stage.client.patch(Node, { name }, patched as never, { type: 'merge' }))
const taints = [
  [],
  [{ key: 'example.com/x', effect: 'NoSchedule' }],
  [{ key: 'example.com/x', effect: 'NoExecute' }],
  [{ key: 'example.com/x', effect: 'PreferNoSchedule' }],
  [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }],
  [{ key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' }],
]

const makers: readonly ((draw: Draw) => Action)[] = [
  setImage,
  setImage,
  setImage,
  draw => patch('strategy', { updateStrategy: drawStrategy(draw) }),
  draw => patch('min ready', { minReadySeconds: draw.pick([0, 2]) }),
  draw => patch('limit', { revisionHistoryLimit: draw.below(3) }),
  draw =>
    patch('tolerations', {
      template: { spec: { tolerations: draw.pick([null, [{ operator: 'Exists' }]]) } },
    }),
  draw => onNode(draw, 'added', (stage, name) => addNode(stage.client, name, { house: stage.namespace })),
  draw => onNode(draw, 'removed', (stage, name) => stage.client.delete(Node, { name })),
  draw => patchNode(draw, 'unlabelled', { metadata: { labels: { house: null } } }),
  draw =>
    onNode(draw, 'labelled', (stage, name) => {
      const labelled = { metadata: { labels: { house: stage.namespace } } }
      return stage.client.patch(Node, { name }, labelled, { type: 'merge' })
    }),
  draw => patchNode(draw, 'cordoned', { spec: { unschedulable: true } }),
  draw => {
    const chosen = draw.pick(taints)
    return patchNode(draw, `taints ${JSON.stringify(chosen)}`, { spec: { taints: chosen } })
  },
  draw => {
    const chosen = draw.pick(taints)
    return patchNode(draw, `taints ${JSON.stringify(chosen)}`, { spec: { taints: chosen } })
  },
  draw => recreate(draw, DaemonSet as Kind, 'agent', create),
  ...bystanders,
  ...podActions,
]

function create(draw: Draw): Action {
  const chosen = image(draw)
  const spec = {
    updateStrategy: drawStrategy(draw),
    ...(draw.chance(0.2) && { minReadySeconds: 2 }),
    ...(draw.chance(0.3) && { revisionHistoryLimit: draw.below(3) }),
  }
  return {
    say: `create ${chosen} ${JSON.stringify(spec)}`,
    run: stage =>
      stage.create(DaemonSet, 'agent', {
        spec: { selector: { matchLabels: labels }, template: template(stage, chosen), ...spec },
      }),
  }
}

export const daemonSets: Family = draw => {
  const own = names.slice(0, 1 + draw.below(3))
  const first = create(draw)
  return {
    actions: [
      {
        say: `nodes ${own.join()}, ${first.say}`,
        run: async stage => {
          for (const name of own) await addOwn(stage, name)
          await first.run(stage)
        },
      },
      ...drawActions(draw, 6, makers),
      ...(draw.chance(0.1) ? endNamespace : []),
    ],
    cleanUp: async stage => {
      for (const name of names)
        await stage.client.delete(Node, { name: nodeName(stage, name) }).catch(() => {})
    },
  }
}
