import { Node, Pod } from '@coxswain/api/core/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import type { Client } from '@coxswain/client'
import { create } from '../../../packages/testing/src/test-support/scheduling/apply-step.ts'
import { type Given, zone } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import type { Draw } from '../comparison/random/draw.ts'
import { disks, drawNode, gpu, zones } from './nodes.ts'

/** Something happens in the cluster that may help pods which wait. */
export interface Change {
  readonly say: string
  readonly run: (client: Client) => Promise<unknown>
}

export interface Known {
  readonly prefix: string
  readonly nodeNames: readonly string[]
  readonly bound: readonly Given[]
  readonly pods: readonly Given[]
  readonly density: number
}

/** What is already deleted need not change. */
const unlessGone = async (work: Promise<unknown>) => {
  await work.catch(error => {
    if (!isNotFound(error)) throw error
  })
}

export function drawChange(draw: Draw, index: number, known: Known): Change {
  const { nodeNames, bound, pods, prefix, density } = known
  const name = draw.pick(nodeNames)
  const patchNode = (say: string, patch: object, subresource?: string): Change => ({
    say: `${say} of ${name}`,
    run: client =>
      unlessGone(client.patch(Node, { name }, patch, { type: 'merge', ...(subresource && { subresource }) })),
  })
  const removal = ([, { metadata }]: Given): Change => ({
    say: `${metadata.name} goes`,
    run: client => {
      const key = { name: metadata.name, namespace: metadata.namespace ?? '' }
      return unlessGone(client.delete(Pod, key, { gracePeriodSeconds: 0 }))
    },
  })
  const arrival = drawNode(draw, `${prefix}m${index}`, density)
  const waiting = draw.pick(pods)[1].metadata
  const label = { app: draw.pick(['web', 'db']), tier: draw.pick(['front', 'back']) }
  const cpu = draw.pick(['4', '16', '32'])
  return draw.pick<() => Change>([
    () => (bound.length > 0 ? removal(draw.pick(bound)) : removal(draw.pick(pods))),
    () => (bound.length > 0 ? removal(draw.pick(bound)) : removal(draw.pick(pods))),
    () => patchNode('taints', { spec: { taints: null, unschedulable: null } }),
    () => patchNode('zone', { metadata: { labels: { [zone]: draw.pick(zones), disk: draw.pick(disks) } } }),
    () => patchNode('rack', { metadata: { labels: { rack: 'r1', size: String(draw.below(9)) } } }),
    () => patchNode('capacity', { status: { allocatable: { cpu, memory: '32Gi', [gpu]: '4' } } }, 'status'),
    () => patchNode('places', { status: { allocatable: { pods: '20' } } }, 'status'),
    () => ({ say: `${prefix}m${index} comes`, run: client => create(client, arrival) }),
    () => ({
      say: `labels of ${waiting.name}`,
      run: client => {
        const key = { name: waiting.name, namespace: waiting.namespace ?? '' }
        return unlessGone(client.patch(Pod, key, { metadata: { labels: label } }, { type: 'merge' }))
      },
    }),
    () => ({
      say: `gates of ${waiting.name}`,
      run: client => {
        const key = { name: waiting.name, namespace: waiting.namespace ?? '' }
        return unlessGone(client.patch(Pod, key, { spec: { schedulingGates: null } }, { type: 'merge' }))
      },
    }),
  ])()
}
