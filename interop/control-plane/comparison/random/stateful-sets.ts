import { StatefulSet } from '@coxswain/api/apps/v1'
import { PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import { labels, podTemplate } from '../scenarios/workload.ts'
import { bystanders, dropQuota, endNamespace, makeQuota } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { podActions } from './pods-by-hand.ts'
import { recreate } from './recreate.ts'

const patch = (say: string, spec: object): Action => ({
  say: `${say} ${JSON.stringify(spec)}`,
  run: stage => stage.patch(StatefulSet, 'web', { spec }),
})
const image = (draw: Draw) => draw.pick(['one', 'one', 'two', 'three', 'broken'])
function drawStrategy(draw: Draw): object {
  if (draw.chance(0.2)) return { type: 'OnDelete', rollingUpdate: null }
  const partition = draw.pick([0, 0, 1, 2, 5])
  return {
    type: 'RollingUpdate',
    rollingUpdate: { partition, maxUnavailable: draw.pick([null, null, 1, 2, '50%']) },
  }
}
const retention = (draw: Draw) => ({
  whenDeleted: draw.pick(['Retain', 'Delete']),
  whenScaled: draw.pick(['Retain', 'Delete']),
})
const setImage = (draw: Draw) => patch('image', { template: podTemplate(image(draw)) })
const scale = (draw: Draw) => patch('scale', { replicas: draw.below(5) })

const makers: readonly ((draw: Draw) => Action)[] = [
  setImage,
  setImage,
  scale,
  scale,
  draw => patch('strategy', { updateStrategy: drawStrategy(draw) }),
  draw => patch('strategy', { updateStrategy: drawStrategy(draw) }),
  draw => patch('retention', { persistentVolumeClaimRetentionPolicy: retention(draw) }),
  draw => patch('ordinals', { ordinals: { start: draw.below(3) } }),
  draw => patch('min ready', { minReadySeconds: draw.pick([0, 2]) }),
  draw => patch('limit', { revisionHistoryLimit: draw.pick([0, 1, 10]) }),
  draw => patch('scaled and edited', { replicas: draw.below(5), template: podTemplate(image(draw)) }),
  draw => {
    const ordinal = draw.below(4)
    return {
      say: `claim ${ordinal} deleted`,
      run: stage => stage.remove(PersistentVolumeClaim, `data-web-${ordinal}`),
    }
  },
  draw => recreate(draw, StatefulSet as Kind, 'web', create),
  makeQuota,
  dropQuota,
  ...bystanders,
  ...podActions,
]

function drawSpec(draw: Draw): object {
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  return {
    replicas: draw.below(5),
    serviceName: 'web',
    selector: { matchLabels: labels },
    template: podTemplate(image(draw)),
    updateStrategy: drawStrategy(draw),
    podManagementPolicy: draw.pick(['OrderedReady', 'OrderedReady', 'Parallel']),
    ...(draw.chance(0.4) && {
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: retention(draw),
    }),
    ...(draw.chance(0.2) && { ordinals: { start: draw.below(3) } }),
    ...(draw.chance(0.2) && { minReadySeconds: 2 }),
    ...(draw.chance(0.3) && { revisionHistoryLimit: draw.below(3) }),
  }
}

const create = (draw: Draw): Action => {
  const spec = drawSpec(draw)
  return { say: `create ${JSON.stringify(spec)}`, run: stage => stage.create(StatefulSet, 'web', { spec }) }
}

export const statefulSets: Family = draw => ({
  actions: [create(draw), ...drawActions(draw, 6, makers), ...(draw.chance(0.1) ? endNamespace : [])],
})
