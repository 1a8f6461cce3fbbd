import { Node, Pod } from '@coxswain/api/core/v1'
import { hostname, node, nodes, noVictims, pod, refused, type Scenario, zone, zoned } from './scenario.ts'

const cache = { app: 'cache' }
const web = { app: 'web' }
interface Term {
  readonly labels?: Readonly<Record<string, string>>
  readonly key?: string
  readonly [field: string]: unknown
}
const term = ({ labels = cache, key = zone, ...more }: Term = {}) => ({
  topologyKey: key,
  labelSelector: { matchLabels: labels },
  ...more,
})
const near = (...terms: readonly Term[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms.map(term) } },
})
const far = (...terms: readonly Term[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms.map(term) } },
})
const rather = (kind: 'podAffinity' | 'podAntiAffinity', weight: number, wanted: Term = {}) => ({
  affinity: {
    [kind]: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term(wanted) }],
    },
  },
})
const notNear = "node(s) didn't match pod affinity rules"
const notFar = "node(s) didn't match pod anti-affinity rules"
const unwanted = "node(s) didn't satisfy existing pods anti-affinity rules"
const zones = [zoned('n1', 'a'), zoned('n2', 'b')]

export const interPodAffinity: readonly Scenario[] = [
  {
    name: 'InterPodAffinity: a pod goes to the zone of the one it wants to be near',
    nodes: zones,
    steps: [
      { create: [pod('c', { labels: cache, nodeName: 'n2' })], end: { c: 'n2' } },
      { create: [pod('w', near({}))], end: { w: 'n2' } },
    ],
  },
  {
    name: 'InterPodAffinity: without a pod to be near there is no node',
    nodes: zones,
    steps: [{ create: [pod('w', near({}))], end: { w: refused(2, `2 ${notNear}`) } }],
  },
  {
    name: 'InterPodAffinity: the first of a kind may begin, where the label is',
    nodes: [node('n1'), zoned('n2', 'b')],
    steps: [
      { create: [pod('w1', { labels: web, ...near({ labels: web }) })], end: { w1: 'n2' } },
      { create: [pod('w2', { labels: web, ...near({ labels: web }) })], end: { w2: 'n2' } },
    ],
  },
  {
    name: 'InterPodAffinity: all the terms have to hold of one pod',
    nodes: zones,
    steps: [
      {
        create: [
          pod('c1', { labels: cache, nodeName: 'n1' }),
          pod('c2', { labels: { ...cache, tier: 'one' }, nodeName: 'n2' }),
        ],
        end: { c1: 'n1', c2: 'n2' },
      },
      { create: [pod('w', near({}, { labels: { tier: 'one' }, key: hostname }))], end: { w: 'n2' } },
    ],
  },
  {
    name: 'InterPodAffinity: a neighbour that comes wakes the pod, another pod does not',
    nodes: zones,
    steps: [
      { create: [pod('w', near({}))], end: { w: refused(2, `2 ${notNear}`) }, tries: 1 },
      {
        create: [pod('x', { labels: web, nodeName: 'n1' })],
        end: { w: refused(2, `2 ${notNear}`) },
        tries: 0,
      },
      { create: [pod('c', { labels: cache, nodeName: 'n2' })], end: { w: 'n2' }, tries: 1 },
    ],
  },
  {
    name: 'InterPodAffinity: a neighbour that is labelled later wakes the pod',
    nodes: zones,
    steps: [
      { create: [pod('x', { nodeName: 'n1' })], end: { x: 'n1' } },
      { create: [pod('w', near({}))], end: { w: refused(2, `2 ${notNear}`) }, tries: 1 },
      { patch: [[Pod, 'x', { metadata: { labels: cache } }]], end: { w: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'InterPodAffinity: a node that comes into the neighbour’s zone wakes the pod',
    nodes: [zoned('n1', 'a', { cpu: '1' }), zoned('n2', 'b')],
    steps: [
      { create: [pod('c', { labels: cache, nodeName: 'n1' })], end: { c: 'n1' } },
      {
        create: [pod('w', near({}))],
        end: { w: refused(2, `1 Insufficient cpu, 1 ${notNear}`, noVictims(2, 1)) },
        tries: 1,
      },
      { patch: [[Node, 'n2', { metadata: { labels: { [zone]: 'a' } } }]], end: { w: 'n2' }, tries: 1 },
    ],
  },
  {
    name: 'InterPodAffinity: a pod stays away from the one it does not want',
    nodes: zones,
    steps: [
      { create: [pod('c', { labels: cache, nodeName: 'n1' })], end: { c: 'n1' } },
      { create: [pod('w', far({}))], end: { w: 'n2' } },
    ],
  },
  {
    name: 'InterPodAffinity: those that want to be alone are one on each host',
    nodes: nodes({}, 'n1', 'n2'),
    steps: [
      {
        create: [
          pod('w1', { labels: web, nodeName: 'n1', ...far({ labels: web, key: hostname }) }),
          pod('w2', { labels: web, ...far({ labels: web, key: hostname }) }),
        ],
        end: { w1: 'n1', w2: 'n2' },
      },
      {
        create: [pod('w3', { labels: web, ...far({ labels: web, key: hostname }) })],
        end: { w3: refused(2, `2 ${notFar}`, noVictims(2, 2)) },
      },
    ],
  },
  {
    name: 'InterPodAffinity: those who are there may not want the new one',
    nodes: [zoned('n1', 'a')],
    steps: [
      { create: [pod('c', { nodeName: 'n1', ...far({ labels: web }) })], end: { c: 'n1' } },
      {
        create: [pod('w', { labels: web }), pod('x')],
        end: { w: refused(1, `1 ${unwanted}`, noVictims(1, 1)), x: 'n1' },
      },
    ],
  },
  {
    name: 'InterPodAffinity: the one who was not wanted goes and wakes the pod, another does not',
    nodes: [zoned('n1', 'a')],
    steps: [
      {
        create: [pod('c', { labels: cache, nodeName: 'n1' }), pod('x', { nodeName: 'n1' })],
        end: { c: 'n1', x: 'n1' },
      },
      { create: [pod('w', far({}))], end: { w: refused(1, `1 ${notFar}`, noVictims(1, 1)) }, tries: 1 },
      { delete: [[Pod, 'x']], end: { w: refused(1, `1 ${notFar}`, noVictims(1, 1)) }, tries: 0 },
      { delete: [[Pod, 'c']], end: { w: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'InterPodAffinity: the one who did not want the pod goes and wakes it',
    nodes: [zoned('n1', 'a')],
    steps: [
      { create: [pod('c', { nodeName: 'n1', ...far({ labels: web }) })], end: { c: 'n1' } },
      {
        create: [pod('w', { labels: web })],
        end: { w: refused(1, `1 ${unwanted}`, noVictims(1, 1)) },
        tries: 1,
      },
      { delete: [[Pod, 'c']], end: { w: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'InterPodAffinity: only the pod’s own namespace counts, unless others are named',
    nodes: zones,
    steps: [
      {
        create: [pod('c', { labels: cache, nodeName: 'n2', namespace: 'other' })],
        end: { 'other/c': 'n2' },
      },
      {
        create: [pod('w1', near({})), pod('w2', near({ namespaces: ['other'] }))],
        end: { w1: refused(2, `2 ${notNear}`), w2: 'n2' },
      },
    ],
  },
  {
    name: 'InterPodAffinity: namespaces can be selected by their labels',
    nodes: zones,
    steps: [
      {
        create: [
          pod('c1', { labels: cache, nodeName: 'n2', namespace: 'other' }),
          pod('c2', { labels: cache, nodeName: 'n1', namespace: 'third' }),
        ],
        end: { 'other/c1': 'n2', 'third/c2': 'n1' },
      },
      {
        create: [pod('w', near({ namespaceSelector: { matchLabels: { team: 'blue' } } }))],
        end: { w: 'n2' },
      },
    ],
  },
  {
    name: 'InterPodAffinity: an empty namespace selector means all of them',
    nodes: zones,
    steps: [
      {
        create: [pod('c', { labels: cache, nodeName: 'n1', namespace: 'third' })],
        end: { 'third/c': 'n1' },
      },
      { create: [pod('w', far({ namespaceSelector: {} }))], end: { w: 'n2' } },
    ],
  },
  {
    name: 'InterPodAffinity: matchLabelKeys and mismatchLabelKeys read the pod’s own labels',
    nodes: zones,
    steps: [
      {
        create: [
          pod('c1', { labels: { ...cache, team: 'red' }, nodeName: 'n1' }),
          pod('c2', { labels: { ...cache, team: 'blue' }, nodeName: 'n2' }),
        ],
        end: { c1: 'n1', c2: 'n2' },
      },
      {
        create: [
          pod('w1', { labels: { team: 'blue' }, ...near({ matchLabelKeys: ['team'] }) }),
          pod('w2', { labels: { team: 'blue' }, ...near({ mismatchLabelKeys: ['team'] }) }),
        ],
        end: { w1: 'n2', w2: 'n1' },
      },
    ],
  },
  {
    name: 'InterPodAffinity: a preference decides between nodes that will do',
    nodes: zones,
    steps: [
      { create: [pod('c', { labels: cache, nodeName: 'n1' })], end: { c: 'n1' } },
      {
        create: [
          pod('w1', { cpu: '100m', ...rather('podAffinity', 100) }),
          pod('w2', { cpu: '100m', ...rather('podAntiAffinity', 100) }),
        ],
        end: { w1: 'n1', w2: 'n2' },
      },
    ],
  },
  {
    name: 'InterPodAffinity: what those who are there prefer counts too',
    nodes: zones,
    steps: [
      {
        create: [
          pod('c', { nodeName: 'n1', ...rather('podAffinity', 100, { labels: web }) }),
          pod('y', { nodeName: 'n2', cpu: '500m' }),
        ],
        end: { c: 'n1', y: 'n2' },
      },
      { create: [pod('w', { labels: web, cpu: '100m' })], end: { w: 'n1' } },
    ],
  },
  {
    name: 'InterPodAffinity: a pod that requires the new one’s company attracts it',
    nodes: zones,
    steps: [
      {
        create: [pod('c', { nodeName: 'n1', labels: web, ...near({ labels: web }) })],
        end: { c: 'n1' },
      },
      { create: [pod('w', { labels: web, cpu: '100m' })], end: { w: 'n1' } },
    ],
  },
]
