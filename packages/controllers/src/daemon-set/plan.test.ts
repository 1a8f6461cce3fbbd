import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView, PodView } from '@coxswain/kinds'
import type { DaemonSetView } from './placement.ts'
import { type Plan, type PlanInput, planPods } from './plan.ts'
import { planRollingUpdate } from './rolling-update.ts'

/**
 * Nodes as `a:oN b:n c!:o`: the pods of each node, `o` old and `n` new, upper case if not ready, `x` terminating, `f` failed; `!`
 * marks a node on which no pod should run.
 */
function inputOf(picture: string, rollingUpdate: object): PlanInput {
  const nodes: NodeView[] = []
  const pods: PodView[] = []
  for (const word of picture.split(' ')) {
    const [mark = '', signs = ''] = word.split(':')
    const name = mark.replace('!', '')
    const labels = { wanted: String(name === mark) }
    nodes.push({ metadata: { name, labels } } as unknown as NodeView)
    for (const [index, sign] of [...signs].entries()) pods.push(podOf(name, sign, index))
  }
  const set = {
    metadata: { name: 'agent' },
    spec: {
      template: { spec: { containers: [], nodeSelector: { wanted: 'true' } } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    },
  } as unknown as DaemonSetView
  return { set, nodes, pods, hash: 'new', now: 0 }
}

function podOf(node: string, sign: string, index: number): PodView {
  const hash = sign.toLowerCase() === 'n' ? 'new' : 'old'
  const ready = /[on]/.test(sign) ? 'True' : 'False'
  return {
    metadata: {
      name: `${node}${index}${sign}`,
      labels: { 'controller-revision-hash': hash },
      creationTimestamp: `2030-01-01T00:00:0${index}Z`,
      ...(sign === 'x' && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    },
    spec: { nodeName: node },
    status: { phase: sign === 'f' ? 'Failed' : 'Running', conditions: [{ type: 'Ready', status: ready }] },
  } as unknown as PodView
}

type Case = readonly [name: string, picture: string, rollingUpdate: object, create: string, remove: string]

const one = { maxUnavailable: 1, maxSurge: 0 }
const surge = { maxUnavailable: 0, maxSurge: 1 }

const upkeep: readonly Case[] = [
  ['a pod is created on each node without one', 'a: b:n c:', one, 'a c', ''],
  ['nothing is created while one is terminating', 'a:x', one, '', ''],
  ['with surge it is created at once', 'a:x', surge, 'a', ''],
  ['of two the younger is deleted', 'a:oo', one, '', 'a1o'],
  ['with surge an old and a new one may coexist', 'a:oN', surge, '', ''],
  ['with surge the old one is deleted when the new one is ready', 'a:on', surge, '', 'a0o'],
  ['with surge an old one that is not ready is deleted', 'a:ON', surge, '', 'a0O'],
  ['with surge a third is deleted', 'a:oNN', surge, '', 'a2N'],
  ['all are deleted from a node that is not selected', 'a!:oo b:n', one, '', 'a0o a1o'],
  ['a failed one is deleted', 'a:f b:n', one, '', 'a0f'],
]

const updates: readonly Case[] = [
  ['one of three is replaced', 'a:o b:o c:o', one, '', 'a0o'],
  ['none while another is unavailable', 'a:o b:x c:o', one, '', ''],
  ['none while a new one is not ready', 'a:o b:N c:o', one, '', ''],
  ['old ones that are not ready are deleted whatever the limit', 'a:O b:O c:o', one, '', 'a0O b0O'],
  ['a percentage is rounded up', 'a:o b:o c:o', { maxUnavailable: '50%' }, '', 'a0o b0o'],
  ['without any allowance it is one', 'a:o b:o', { maxUnavailable: 0, maxSurge: 0 }, '', 'a0o'],
  ['surge creates one beside an old one', 'a:o b:o c:o', surge, 'a', ''],
  ['surge waits for pods that are starting', 'a:oN b:o c:o', surge, '', ''],
  ['surge continues when they are ready', 'a:on b:o c:o', surge, 'b', 'a0o'],
  ['surge replaces pods that are not ready at once', 'a:O b:O c:o', surge, 'a b c', ''],
  [
    'surge keeps a pod on a node that is no longer selected until others are available',
    'a!:o b:N',
    surge,
    '',
    '',
  ],
  ['surge deletes it then', 'a!:o b:n', surge, '', 'a0o'],
  ['nothing is done when all are new', 'a:n b:n', one, '', ''],
]

function check([name, picture, rollingUpdate, create, remove]: Case, plan: (input: PlanInput) => Plan) {
  it(name, () => {
    const result = plan(inputOf(picture, rollingUpdate))
    assert.equal(result.create.join(' '), create)
    assert.equal(result.delete.map(({ metadata }) => metadata.name).join(' '), remove)
  })
}

describe('The pods that a DaemonSet creates and deletes', () => {
  for (const each of upkeep) check(each, input => planPods(input, () => true))
})

describe('The rolling update of a DaemonSet', () => {
  for (const each of updates) check(each, planRollingUpdate)
})
