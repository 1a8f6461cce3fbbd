import { ReplicaSet } from '@coxswain/api/apps/v1'
import { Pod, ReplicationController } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { labels, podTemplate } from '../scenarios/workload.ts'
import { bystanders, dropQuota, endNamespace, makeQuota } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { podActions, releasePod, returnPod } from './pods-by-hand.ts'
import { recreate } from './recreate.ts'

function makersOf(kind: Kind): readonly ((draw: Draw) => Action)[] {
  const patch = (say: string, spec: object): Action => ({
    say: `${say} ${JSON.stringify(spec)}`,
    run: stage => stage.patch(kind, 'web', { spec }),
  })
  return [
    draw => patch('scale', { replicas: draw.below(6) }),
    draw => patch('scale', { replicas: draw.below(6) }),
    draw => patch('min ready', { minReadySeconds: draw.pick([0, 2]) }),
    draw => patch('image', { template: podTemplate(draw.pick(['one', 'two', 'broken'])) }),
    releasePod,
    returnPod,
    draw => {
      const finalizers = draw.pick([undefined, ['example.com/hold']])
      const name = `bare-${draw.below(3)}`
      return {
        say: `a bare pod ${name}${finalizers ? ', held' : ''}`,
        // It runs before the controller takes it for a surplus Pod.
        run: async stage => {
          const metadata = { labels: { app: 'stray' }, ...(finalizers && { finalizers }) }
          await stage.create(Pod, name, { metadata, spec: podTemplate('one').spec })
          await stage.settle(1_500)
          await stage.patch(Pod, name, { metadata: { labels } })
        },
      }
    },
    draw => {
      const cost = String(draw.below(5) - 2)
      return {
        say: `costs ${cost}`,
        run: async stage => {
          for (const { metadata } of await stage.list(Pod))
            if (metadata.name.startsWith('bare-'))
              await stage.patch(Pod, metadata.name, {
                metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } },
              })
        },
      }
    },
    draw => recreate(draw, kind, 'web', each => create(kind, each)),
    makeQuota,
    dropQuota,
    ...bystanders,
    ...podActions,
  ]
}

function create(kind: Kind, draw: Draw): Action {
  const spec = {
    replicas: draw.below(5),
    selector: kind === (ReplicaSet as Kind) ? { matchLabels: labels } : labels,
    template: podTemplate(draw.pick(['one', 'one', 'broken'])),
  }
  return {
    say: `create ${kind.kind} ${JSON.stringify(spec)}`,
    run: stage => stage.create(kind, 'web', { spec }),
  }
}

export const replicaSets: Family = draw => {
  const kind = draw.pick([ReplicaSet, ReplicaSet, ReplicationController]) as Kind
  return {
    actions: [
      create(kind, draw),
      ...drawActions(draw, 6, makersOf(kind)),
      ...(draw.chance(0.1) ? endNamespace : []),
    ],
  }
}
