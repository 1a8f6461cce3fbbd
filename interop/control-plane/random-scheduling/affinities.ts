import { zone } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import type { Draw } from '../comparison/random/draw.ts'
import { apps, disks, maybe, some, taintKeys, topologyKeys, versions, zones } from './nodes.ts'

/** What a pod says about nodes and neighbours, as fields of its spec. */

const weigh = (draw: Draw) => draw.below(100) + 1

function drawExpression(draw: Draw): object {
  return draw.pick([
    { key: zone, operator: 'In', values: some(draw, zones, 0.6).concat(draw.pick(zones)) },
    { key: 'disk', operator: 'NotIn', values: [draw.pick(disks)] },
    { key: 'size', operator: 'Gt', values: [String(draw.below(8))] },
    { key: 'size', operator: 'Lt', values: [String(draw.below(8) + 2)] },
    { key: 'rack', operator: 'Exists' },
    { key: 'rack', operator: 'DoesNotExist' },
    { key: 'disk', operator: 'In', values: [draw.pick(disks)] },
  ])
}

function drawTerm(draw: Draw, nodeNames: readonly string[]): object {
  const isByName = draw.chance(0.25)
  const operator = draw.pick(['In', 'In', 'NotIn'])
  return {
    ...((!isByName || draw.chance(0.3)) && {
      matchExpressions: Array.from({ length: draw.below(2) + 1 }, () => drawExpression(draw)),
    }),
    ...(isByName && { matchFields: [{ key: 'metadata.name', operator, values: [draw.pick(nodeNames)] }] }),
  }
}

export function drawNodeAffinity(draw: Draw, nodeNames: readonly string[], required: number): object {
  const terms = () => Array.from({ length: draw.below(2) + 1 }, () => drawTerm(draw, nodeNames))
  return {
    ...(draw.chance(required) && {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms() },
    }),
    ...(draw.chance(0.6) && {
      preferredDuringSchedulingIgnoredDuringExecution: terms().map(preference => ({
        weight: weigh(draw),
        preference,
      })),
    }),
  }
}

export function drawSelector(draw: Draw): object {
  return draw.pick([
    { matchLabels: { app: draw.pick(apps) } },
    { matchLabels: { app: draw.pick(apps), version: draw.pick(versions) } },
    { matchExpressions: [{ key: 'app', operator: 'In', values: [draw.pick(apps), draw.pick(apps)] }] },
    { matchExpressions: [{ key: 'version', operator: 'DoesNotExist' }] },
    { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [draw.pick(apps)] }] },
    {},
  ])
}

function drawPodTerm(draw: Draw): object {
  const labelSelector = maybe(draw, 0.95, () => drawSelector(draw))
  return {
    topologyKey: draw.pick(topologyKeys),
    ...(labelSelector && { labelSelector }),
    ...(draw.chance(0.2) && { namespaces: some(draw, ['default', 'other', 'third']) }),
    ...(draw.chance(0.2) && {
      namespaceSelector: draw.pick([{}, { matchLabels: { team: 'blue' } }, { matchLabels: { team: 'red' } }]),
    }),
    ...(labelSelector && draw.chance(0.15) && { matchLabelKeys: ['tier'] }),
    ...(labelSelector && draw.chance(0.15) && { mismatchLabelKeys: ['owner'] }),
  }
}

/**
 * `most` terms. When a pod with several required anti-affinities goes, kube-scheduler wakes those only that all of them kept
 * away; ours wakes those that any of them did.
 */
export function drawPodAffinity(draw: Draw, required = 0.6, most = 2): object {
  const terms = () => Array.from({ length: draw.chance(0.25) ? most : 1 }, () => drawPodTerm(draw))
  return {
    ...(draw.chance(required) && { requiredDuringSchedulingIgnoredDuringExecution: terms() }),
    ...(draw.chance(0.5) && {
      preferredDuringSchedulingIgnoredDuringExecution: terms().map(podAffinityTerm => ({
        weight: weigh(draw),
        podAffinityTerm,
      })),
    }),
  }
}

/** Two constraints of one key and one consequence are refused. */
export function drawSpread(draw: Draw, density: number): object[] {
  const keys = some(draw, topologyKeys, 0.4)
  return (keys.length === 0 ? [draw.pick(topologyKeys)] : keys).map(topologyKey => {
    const whenUnsatisfiable = draw.chance(0.7 * density) ? 'DoNotSchedule' : 'ScheduleAnyway'
    const labelSelector = maybe(draw, 0.95, () => drawSelector(draw))
    return {
      topologyKey,
      whenUnsatisfiable,
      maxSkew: draw.below(3) + 1,
      ...(labelSelector && { labelSelector }),
      ...(whenUnsatisfiable === 'DoNotSchedule' && draw.chance(0.3) && { minDomains: draw.below(4) + 1 }),
      ...(draw.chance(0.3) && { nodeAffinityPolicy: draw.pick(['Honor', 'Ignore']) }),
      ...(draw.chance(0.3) && { nodeTaintsPolicy: draw.pick(['Honor', 'Ignore']) }),
      ...(labelSelector && draw.chance(0.2) && { matchLabelKeys: ['tier'] }),
    }
  })
}

export function drawTolerations(draw: Draw): object[] {
  return some(draw, taintKeys, 0.6).map(key => {
    const effect = maybe(draw, 0.6, () => draw.pick(['NoSchedule', 'PreferNoSchedule', 'NoExecute']))
    const isForAll = draw.chance(0.1)
    return {
      ...(!isForAll && { key }),
      ...(isForAll || draw.chance(0.5)
        ? { operator: 'Exists' }
        : { operator: 'Equal', value: draw.pick(['x', 'y', '']) }),
      ...(effect && { effect }),
      ...(effect === 'NoExecute' && draw.chance(0.3) && { tolerationSeconds: 60 }),
    }
  })
}
