import { Node, Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { hostname, node, noVictims, pod, pods, refused, type Scenario, zone, zoned } from './scenario.ts'

const app = { app: 'web' }
const urgent = { priorityClassName: 'high' }
const slow = { terminationGracePeriodSeconds: 30 }
/** What a pod says that waits for others to leave. */
const promised = (all: number, reasons: string, nodeName: string) =>
  `${refused(all, reasons, '')} -> ${nodeName}`
const budget = (disruptionsAllowed: number) =>
  [
    PodDisruptionBudget,
    {
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: app }, minAvailable: 1 },
      status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    },
  ] as const

export const prioritySort: readonly Scenario[] = [
  {
    name: 'PrioritySort: of pods that wait the more important goes first',
    nodes: [node('n1', { cpu: '1', unschedulable: true })],
    steps: [
      { create: [pod('a'), pod('b', { priorityClassName: 'polite' }), pod('c')], end: {} },
      {
        patch: [[Node, 'n1', { spec: { unschedulable: null } }]],
        end: {
          a: refused(1, '1 Insufficient cpu', noVictims(1, 1)),
          b: 'n1',
          c: refused(1, '1 Insufficient cpu', noVictims(1, 1)),
        },
      },
    ],
  },
]

export const defaultPreemption: readonly Scenario[] = [
  {
    name: 'DefaultPreemption: a less important pod leaves for a more important one',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a')], end: { a: 'n1' } },
      { create: [pod('b', urgent)], end: { a: 'gone', b: 'n1' } },
    ],
  },
  {
    name: 'DefaultPreemption: while the other takes its time to go, the node is promised',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', slow)], end: { a: 'n1' } },
      { create: [pod('b', urgent)], end: { a: 'leaving', b: promised(1, '1 Insufficient cpu', 'n1') } },
      { delete: [[Pod, 'a']], end: { a: 'gone', b: 'n1' } },
    ],
  },
  {
    name: 'DefaultPreemption: the deletion of one of two victims does not help before the other is terminating',
    nodes: [node('n1', { cpu: '2' })],
    steps: [
      { create: [pod('a', { priorityClassName: 'middle' }), pod('b', slow)], end: { a: 'n1', b: 'n1' } },
      {
        create: [pod('c', { cpu: '2', ...urgent })],
        end: { a: 'gone', b: 'leaving', c: promised(1, '1 Insufficient cpu', 'n1') },
        tries: 1,
      },
      { delete: [[Pod, 'b']], end: { b: 'gone', c: 'n1' } },
    ],
  },
  {
    name: 'DefaultPreemption: no pod is preempted by one of equal priority',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', urgent)], end: { a: 'n1' } },
      { create: [pod('b', urgent)], end: { a: 'n1', b: refused(1, '1 Insufficient cpu', noVictims(1, 1)) } },
    ],
  },
  {
    name: 'DefaultPreemption: a pod that may not make others leave waits',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a')], end: { a: 'n1' } },
      {
        create: [pod('b', { priorityClassName: 'polite' })],
        end: {
          a: 'n1',
          b: refused(1, '1 Insufficient cpu', 'not eligible due to preemptionPolicy=Never.'),
        },
      },
    ],
  },
  {
    name: 'DefaultPreemption: as few as possible leave, the least important of them',
    nodes: [node('n1', { cpu: '3' })],
    steps: [
      {
        create: [
          pod('a', { priorityClassName: 'middle' }),
          pod('b', { priorityClassName: 'low' }),
          pod('c', { priorityClassName: 'middle' }),
        ],
        end: { a: 'n1', b: 'n1', c: 'n1' },
      },
      { create: [pod('d', urgent)], end: { a: 'n1', b: 'gone', c: 'n1', d: 'n1' } },
    ],
  },
  {
    name: 'DefaultPreemption: the node whose victims matter least is chosen',
    nodes: [node('n1', { cpu: '1' }), node('n2', { cpu: '1' })],
    steps: [
      {
        create: [
          pod('a', { nodeName: 'n1', priorityClassName: 'middle' }),
          pod('b', { nodeName: 'n2', priorityClassName: 'low' }),
        ],
        end: { a: 'n1', b: 'n2' },
      },
      { create: [pod('c', urgent)], end: { a: 'n1', b: 'gone', c: 'n2' } },
    ],
  },
  {
    name: 'DefaultPreemption: of equal victims the fewer leave',
    nodes: [node('n1', { cpu: '2' }), node('n2', { cpu: '2' })],
    steps: [
      {
        create: [...pods({ nodeName: 'n1' }, 'a', 'b'), pod('c', { nodeName: 'n2', cpu: '2' })],
        end: { a: 'n1', b: 'n1', c: 'n2' },
      },
      { create: [pod('d', { ...urgent, cpu: '2' })], end: { a: 'n1', b: 'n1', c: 'gone', d: 'n2' } },
    ],
  },
  {
    name: 'DefaultPreemption: a node where it would not help is left alone',
    nodes: [node('n1', { cpu: '1' }), node('n2', { cpu: '2', unschedulable: true })],
    steps: [
      { create: [pod('a', { nodeName: 'n1' }), pod('b', { nodeName: 'n2' })], end: { a: 'n1', b: 'n2' } },
      {
        create: [pod('c', { ...urgent, cpu: '2' })],
        end: {
          a: 'n1',
          b: 'n2',
          c: refused(2, '1 Insufficient cpu, 1 node(s) were unschedulable'),
        },
      },
    ],
  },
  {
    name: 'DefaultPreemption: no pod is preempted when none has a low enough priority',
    nodes: [node('n1', { cpu: '2' })],
    steps: [
      { create: [pod('a', urgent), pod('b')], end: { a: 'n1', b: 'n1' } },
      {
        create: [pod('c', { ...urgent, cpu: '2' })],
        end: {
          a: 'n1',
          b: 'n1',
          c: refused(1, '1 Insufficient cpu', '0/1 nodes are available: 1 Insufficient cpu.'),
        },
      },
    ],
  },
  {
    name: 'DefaultPreemption: pods with a budget to spare leave before others',
    nodes: [node('n1', { cpu: '1' }), node('n2', { cpu: '1' })],
    steps: [
      {
        create: [
          budget(0),
          pod('a', { nodeName: 'n1', labels: app, priorityClassName: 'low' }),
          pod('b', { nodeName: 'n2' }),
        ],
        end: { a: 'n1', b: 'n2' },
      },
      { create: [pod('c', urgent)], end: { a: 'n1', b: 'gone', c: 'n2' } },
    ],
  },
  {
    name: 'DefaultPreemption: a budget is broken when there is no other way',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [budget(0), pod('a', { nodeName: 'n1', labels: app })], end: { a: 'n1' } },
      { create: [pod('c', urgent)], end: { a: 'gone', c: 'n1' } },
    ],
  },
  {
    name: 'DefaultPreemption: on one node those with a budget that holds stay',
    nodes: [node('n1', { cpu: '2' })],
    steps: [
      {
        create: [budget(0), pod('a', { labels: app, priorityClassName: 'low' }), pod('b')],
        end: { a: 'n1', b: 'n1' },
      },
      { create: [pod('c', urgent)], end: { a: 'n1', b: 'gone', c: 'n1' } },
    ],
  },
  {
    name: 'DefaultPreemption: makes room for ports',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', { container: { ports: [{ containerPort: 80, hostPort: 80 }] } }), pod('x')],
        end: { a: 'n1', x: 'n1' },
      },
      {
        create: [pod('b', { ...urgent, container: { ports: [{ containerPort: 80, hostPort: 80 }] } })],
        end: { a: 'gone', x: 'n1', b: 'n1' },
      },
    ],
  },
  {
    name: 'DefaultPreemption: makes the one leave that the pod does not want to be near',
    nodes: [zoned('n1', 'a')],
    steps: [
      { create: [pod('a', { labels: app }), pod('x')], end: { a: 'n1', x: 'n1' } },
      {
        create: [
          pod('b', {
            ...urgent,
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  { topologyKey: hostname, labelSelector: { matchLabels: app } },
                ],
              },
            },
          }),
        ],
        end: { a: 'gone', x: 'n1', b: 'n1' },
      },
    ],
  },
  {
    name: 'DefaultPreemption: evens out a skew',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { unschedulable: true })],
    steps: [
      { create: [pod('a', { labels: app, nodeName: 'n1' })], end: { a: 'n1' } },
      {
        create: [
          pod('b', {
            ...urgent,
            labels: app,
            topologySpreadConstraints: [
              {
                topologyKey: zone,
                maxSkew: 1,
                whenUnsatisfiable: 'DoNotSchedule',
                labelSelector: { matchLabels: app },
              },
            ],
          }),
        ],
        end: { a: 'gone', b: 'n1' },
      },
    ],
  },
]

export const nominatedNodes: readonly Scenario[] = [
  {
    name: 'nominated nodes: what is promised to a pod is not given to another',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', slow)], end: { a: 'n1' } },
      { create: [pod('b', urgent)], end: { a: 'leaving', b: promised(1, '1 Insufficient cpu', 'n1') } },
      {
        create: [pod('c')],
        end: { c: refused(1, '1 Insufficient cpu', noVictims(1, 1)) },
      },
      {
        delete: [[Pod, 'a']],
        end: { b: 'n1', c: refused(1, '1 Insufficient cpu', noVictims(1, 1)) },
      },
    ],
  },
  {
    name: 'nominated nodes: a still more important pod gets it',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', slow)], end: { a: 'n1' } },
      { create: [pod('b', urgent)], end: { a: 'leaving', b: promised(1, '1 Insufficient cpu', 'n1') } },
      {
        create: [pod('c', { priorityClassName: 'higher' })],
        end: { a: 'leaving', c: promised(1, '1 Insufficient cpu', 'n1') },
      },
      {
        delete: [[Pod, 'a']],
        end: { b: refused(1, '1 Insufficient cpu', noVictims(1, 1)), c: 'n1' },
      },
    ],
  },
  {
    name: 'nominated nodes: a pod takes another node that becomes free before',
    nodes: [node('n1', { cpu: '1' }), node('n2', { cpu: '1', unschedulable: true })],
    steps: [
      { create: [pod('a', { ...slow, nodeName: 'n1' })], end: { a: 'n1' } },
      {
        create: [pod('b', urgent)],
        end: {
          a: 'leaving',
          b: promised(2, '1 Insufficient cpu, 1 node(s) were unschedulable', 'n1'),
        },
      },
      { patch: [[Node, 'n2', { spec: { unschedulable: null } }]], end: { a: 'leaving', b: 'n2' } },
    ],
  },
  {
    name: 'nominated nodes: when the node goes, the pod looks for another',
    nodes: [node('n1', { cpu: '1' }), node('n2', { cpu: '1' })],
    steps: [
      {
        create: [
          pod('a', { ...slow, nodeName: 'n1', priorityClassName: 'low' }),
          pod('x', { nodeName: 'n2', priorityClassName: 'higher' }),
        ],
        end: { a: 'n1', x: 'n2' },
      },
      { create: [pod('b', urgent)], end: { b: promised(2, '2 Insufficient cpu', 'n1') } },
      {
        delete: [
          [Node, 'n1'],
          [Pod, 'x'],
        ],
        end: { b: 'n2' },
      },
    ],
  },
  {
    name: 'nominated nodes: the pod that it was promised to goes, and another gets it',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', slow)], end: { a: 'n1' } },
      { create: [pod('b', urgent)], end: { b: promised(1, '1 Insufficient cpu', 'n1') } },
      {
        create: [pod('c')],
        end: { c: refused(1, '1 Insufficient cpu', noVictims(1, 1)) },
      },
      {
        delete: [
          [Pod, 'b'],
          [Pod, 'a'],
        ],
        end: { b: 'gone', c: 'n1' },
      },
    ],
  },
]
