import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { Pod } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { labels, podTemplate } from '../scenarios/workload.ts'
import type { Stage } from '../stage.ts'
import { bystanders, dropQuota, endNamespace, makeQuota } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { podActions } from './pods-by-hand.ts'
import { recreate } from './recreate.ts'

const patch = (say: string, spec: object): Action => ({
  say: `${say} ${JSON.stringify(spec)}`,
  run: stage => stage.patch(Deployment, 'web', { spec }),
})

function drawStrategy(draw: Draw): object {
  if (draw.chance(0.2)) return { type: 'Recreate', rollingUpdate: null }
  const maxSurge = draw.pick([0, 1, 2, '25%', '50%', '100%'])
  const maxUnavailable = draw.pick(maxSurge === 0 ? [1, 2, '50%'] : [0, 1, '25%', '50%', '100%'])
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } }
}
const image = (draw: Draw) => draw.pick(['one', 'one', 'two', 'three', 'broken'])
const limit = (draw: Draw) => draw.pick([null, 0, 1, 2])
const deadline = (draw: Draw) => draw.pick([null, 4, 600, 2_147_483_647])

const setImage = (draw: Draw) => patch('image', { template: podTemplate(image(draw)) })
const makers: readonly ((draw: Draw) => Action)[] = [
  setImage,
  setImage,
  setImage,
  draw => patch('scale', { replicas: draw.below(6) }),
  draw => patch('scale', { replicas: draw.below(6) }),
  () => patch('pause', { paused: true }),
  () => patch('resume', { paused: false }),
  draw => patch('scaled and edited', { replicas: draw.below(5), template: podTemplate(image(draw)) }),
  draw => patch('strategy', { strategy: drawStrategy(draw) }),
  draw => patch('limit', { revisionHistoryLimit: limit(draw) }),
  draw => patch('deadline', { progressDeadlineSeconds: deadline(draw) }),
  draw => patch('min ready', { minReadySeconds: draw.pick([0, 2]) }),
  draw =>
    patch('template note', {
      template: { metadata: { annotations: { note: draw.pick(['a', 'b', null]) } } },
    }),
  draw => {
    const note = draw.pick(['a', 'b', null])
    return {
      say: `annotation ${note}`,
      run: stage =>
        stage.patch(Deployment, 'web', { metadata: { annotations: { note }, labels: { team: note } } }),
    }
  },
  draw => onSet(draw, 'scaled', (stage, name) => stage.patch(ReplicaSet, name, { spec: { replicas: 1 } })),
  draw => {
    const propagationPolicy = draw.pick(['Background', 'Foreground', 'Orphan'] as const)
    return onSet(draw, `deleted ${propagationPolicy}`, (stage, name) =>
      stage.remove(ReplicaSet, name, { propagationPolicy }),
    )
  },
  draw => recreate(draw, Deployment as Kind, 'web', create),
  makeQuota,
  dropQuota,
  ...bystanders,
  ...podActions,
]

/** The set of the newest or of an older revision. */
function onSet(draw: Draw, say: string, run: (stage: Stage, name: string) => Promise<unknown>): Action {
  const nth = draw.below(3)
  const revisionOf = ({ metadata }: ReplicaSet) =>
    Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0)
  return {
    say: `set ${nth}: ${say}`,
    run: async stage => {
      const sets = (await stage.list(ReplicaSet)).toSorted((a, b) => revisionOf(b) - revisionOf(a))
      const set = sets[nth % Math.max(1, sets.length)]
      if (set) await run(stage, set.metadata.name)
    },
  }
}

function drawSpec(draw: Draw): object {
  const minReadySeconds = draw.pick([0, 0, 0, 2])
  return {
    replicas: draw.below(6),
    selector: { matchLabels: labels },
    template: podTemplate(image(draw)),
    strategy: drawStrategy(draw),
    minReadySeconds,
    ...(draw.chance(0.5) && { revisionHistoryLimit: limit(draw) }),
    ...(draw.chance(0.3) && { progressDeadlineSeconds: deadline(draw) }),
    ...(draw.chance(0.1) && { paused: true }),
  }
}

const create = (draw: Draw): Action => {
  const spec = drawSpec(draw)
  return { say: `create ${JSON.stringify(spec)}`, run: stage => stage.create(Deployment, 'web', { spec }) }
}

export const deployments: Family = draw => {
  const first = create(draw)
  const stray: Action = {
    say: 'a stray pod',
    run: stage =>
      stage.create(Pod, 'stray', { metadata: { labels: { app: 'stray' } }, spec: podTemplate('one').spec }),
  }
  return {
    actions: [
      first,
      ...(draw.chance(0.2) ? [stray] : []),
      ...drawActions(draw, 6, makers),
      ...(draw.chance(0.1) ? endNamespace : []),
    ],
    masks: { chanceSteps: true, chanceGenerations: true },
  }
}
