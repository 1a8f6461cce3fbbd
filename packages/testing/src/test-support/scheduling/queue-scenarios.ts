import { ConfigMap, Node, Pod, Service } from '@coxswain/api/core/v1'
import { type SchedulerPlugin, unschedulable } from '@coxswain/scheduler'
import { node, nodes, noVictims, pod, pods, refused, type Scenario } from './scenario.ts'

const full = refused(1, '1 Insufficient cpu', noVictims(1, 1))
const rack = { requests: { 'example.com/rack': '1' } }
const ofProfile = (schedulerName: string, shape: object = {}) => ({ schedulerName, ...shape })

export const queue: readonly Scenario[] = [
  {
    name: 'the queue: without nodes a pod waits for the first',
    nodes: [],
    steps: [
      { create: [pod('a')], end: { a: 'no nodes available to schedule pods' } },
      { create: [node('n1')], end: { a: 'n1' } },
    ],
  },
  {
    name: 'the queue: what has nothing to do with a pod does not wake it',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a'), pod('b')], end: { b: full }, tries: 2 },
      {
        create: [
          [Service, { metadata: { name: 's', namespace: 'default' }, spec: { ports: [{ port: 80 }] } }],
          [ConfigMap, { metadata: { name: 'c', namespace: 'default' } }],
        ],
        patch: [
          [Node, 'n1', { metadata: { annotations: { some: 'note' } } }],
          [Pod, 'a', { metadata: { annotations: { some: 'note' } } }],
          [Pod, 'b', { metadata: { labels: { some: 'label' } } }],
          [Node, 'n1', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, 'status'],
        ],
        end: { a: 'n1', b: full },
        tries: 0,
      },
    ],
  },
  {
    name: 'the queue: one pod that cannot go anywhere does not stop the others',
    nodes: [node('n1')],
    steps: [
      {
        create: [
          pod('large', { cpu: '100', priorityClassName: 'high' }),
          ...pods({ cpu: '100m' }, 'a', 'b', 'c'),
        ],
        end: { large: refused(1, '1 Insufficient cpu'), a: 'n1', b: 'n1', c: 'n1' },
        tries: 4,
      },
    ],
  },
  {
    name: 'the queue: the pods that one event helps are tried each once, the more important first',
    nodes: [node('n1', { cpu: '2' })],
    steps: [
      { create: [pod('a', { cpu: '2' })], end: { a: 'n1' } },
      { create: [pod('b', { cpu: '2' })], end: { b: full }, tries: 1 },
      { create: [pod('c', { cpu: '2', priorityClassName: 'polite' })], tries: 1 },
      { delete: [[Pod, 'a']], end: { b: full, c: 'n1' }, tries: 2 },
    ],
    onlyVirtual: 'there the back-off of both is not over, and then the one that failed first is tried first',
  },
  {
    name: 'the queue: a pod that is deleted while it waits is forgotten',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a'), pod('b')], end: { b: full } },
      {
        delete: [
          [Pod, 'b'],
          [Pod, 'a'],
        ],
        end: { a: 'gone', b: 'gone' },
        tries: 0,
      },
    ],
  },
  {
    name: 'the queue: a pod of the same name that comes anew is another',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a'), pod('b')], end: { a: 'n1', b: full } },
      { delete: [[Pod, 'b']], end: { b: 'gone' } },
      { create: [pod('b', { cpu: '' })], end: { b: 'n1' } },
    ],
  },
  {
    name: 'the queue: a pod that another scheduler has bound is left alone',
    nodes: [node('n1', { cpu: '1' }), node('n2', { unschedulable: true })],
    steps: [
      { create: [pod('a'), pod('b')], end: { a: 'n1' } },
      {
        create: [
          [
            Pod,
            {
              metadata: { name: 'c', namespace: 'default' },
              spec: { nodeName: 'n2', containers: [{ name: 'main', image: 'x' }] },
            },
          ],
        ],
        end: { c: 'n2' },
        tries: 0,
      },
    ],
  },
  {
    name: 'the queue: a pod that nothing woke is tried again after five minutes',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a'), pod('b')], end: { b: full }, tries: 2 },
      { wait: 280_000, end: { b: full }, tries: 0 },
      { wait: 60_000, end: { b: full }, tries: 1 },
    ],
    onlyVirtual: 'it takes minutes',
  },
]

/** Fails this many times, with an internal error. */
const stumbling = (times: number): SchedulerPlugin => {
  let left = times
  return {
    name: 'Stumbling',
    reserve: () => {
      if (left-- > 0) throw new Error('stumbled')
      return undefined
    },
  }
}

/** Lets pods wait for permission. `allowAfter`: milliseconds until it is given. */
const doorkeeper = (wait: number, allowAfter?: number): SchedulerPlugin => ({
  name: 'Doorkeeper',
  permit: ({ pod: { uid }, handle }) => {
    if (allowAfter !== undefined) handle.env.clock.after(allowAfter, () => handle.allow(uid))
    return { wait }
  },
  wakesOn: ({ resource }) => resource === 'Service',
})

export const backoff: readonly Scenario[] = [
  {
    name: 'back-off: after an error a pod comes back in a second, then in two',
    nodes: [node('n1')],
    plugins: () => [stumbling(2)],
    steps: [
      { create: [pod('a')], wait: 500, end: { a: 'stumbled' }, tries: 1 },
      { wait: 1_000, end: { a: 'stumbled' }, tries: 1 },
      { wait: 1_000, end: { a: 'stumbled' }, tries: 0 },
      { wait: 1_500, end: { a: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'back-off: a pod that was rejected and may fit now is not kept waiting when no other pod is ready',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a'), pod('b')], end: { b: full } },
      { delete: [[Pod, 'a']], wait: 100, end: { b: 'n1' }, tries: 1 },
    ],
    onlyVirtual: 'a running server has no such clock',
  },
]

export const permit: readonly Scenario[] = [
  {
    name: 'permit: a pod waits until it is allowed, and has its nominated node meanwhile',
    nodes: [node('n1')],
    plugins: () => [doorkeeper(60_000, 10_000)],
    steps: [
      { create: [pod('a')], end: { a: 'waiting -> n1' } },
      { wait: 6_000, end: { a: 'n1' } },
    ],
  },
  {
    name: 'permit: a pod that is not allowed in time waits for another attempt',
    nodes: [node('n1')],
    plugins: () => [doorkeeper(10_000)],
    steps: [
      { create: [pod('a')], wait: 9_000, end: { a: 'waiting -> n1' }, tries: 1 },
      {
        wait: 2_000,
        end: {
          a: '0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin Doorkeeper.',
        },
        tries: 0,
      },
    ],
  },
  {
    name: 'permit: what a pod would take counts while it waits',
    nodes: [node('n1', { cpu: '1' })],
    plugins: () => [doorkeeper(60_000, 20_000)],
    steps: [
      { create: [pod('a')], end: { a: 'waiting -> n1' } },
      { create: [pod('b')], end: { b: full } },
      { wait: 20_000, end: { a: 'n1', b: full } },
    ],
  },
  {
    name: 'permit: a refusal gives back what was reserved',
    nodes: [node('n1', { cpu: '1' })],
    plugins: () => [
      {
        name: 'Doorkeeper',
        permit: ({ pod: { pod: waiting } }) =>
          waiting.metadata.name === 'a' ? unschedulable('not you') : undefined,
        wakesOn: () => false,
      },
    ],
    steps: [
      { create: [pod('a')], end: { a: '0/1 nodes are available: 1 not you.' }, tries: 1 },
      { create: [pod('b')], end: { b: 'n1' }, tries: 1 },
    ],
  },
]

export const profiles: readonly Scenario[] = [
  {
    name: 'profiles: a pod is scheduled as its profile says',
    nodes: nodes({ cpu: '4' }, 'n1', 'n2'),
    steps: [
      { create: [pod('x', { nodeName: 'n1' })], end: { x: 'n1' } },
      { create: [pod('a', ofProfile('packing')), pod('b')], end: { a: 'n1', b: 'n2' } },
    ],
  },
  {
    name: 'profiles: one asks for more than the pod does',
    nodes: [node('n1', { cpu: '8', memory: '16Gi' }), node('n2', { labels: { pool: 'special' } })],
    steps: [
      { create: [pod('a', ofProfile('special')), pod('b')], end: { a: 'n2', b: 'n1' } },
      {
        create: [pod('c', ofProfile('special', { cpu: '7' }))],
        end: {
          c: refused(2, "1 Insufficient cpu, 1 node(s) didn't match scheduler-enforced node affinity"),
        },
      },
    ],
  },
  {
    name: 'profiles: one does not preempt',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a')], end: { a: 'n1' } },
      {
        create: [pod('b', ofProfile('peaceful', { priorityClassName: 'high' }))],
        end: { a: 'n1', b: '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate' },
      },
    ],
  },
  {
    name: 'profiles: one does not look at taints',
    nodes: [node('n1', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })],
    steps: [
      {
        create: [pod('a', ofProfile('careless')), pod('b')],
        end: { a: 'n1', b: refused(1, '1 node(s) had untolerated taint(s)') },
      },
    ],
  },
  {
    name: 'profiles: pods of a scheduler that is not there are left alone',
    nodes: [node('n1')],
    steps: [{ create: [pod('a', ofProfile('absent')), pod('b')], end: { a: 'waiting', b: 'n1' }, tries: 1 }],
  },
  {
    name: 'profiles: they share the nodes and the queue',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', ofProfile('packing'))], end: { a: 'n1' } },
      { create: [pod('b')], end: { b: full } },
      { delete: [[Pod, 'a']], end: { b: 'n1' } },
    ],
  },
]

export const extenders: readonly Scenario[] = [
  {
    name: 'extenders: are not asked about pods that are not theirs',
    nodes: [node('x1')],
    steps: [{ create: [pod('a')], end: { a: 'x1' } }],
  },
  {
    name: 'extenders: refuse nodes, and their resource is theirs to count',
    nodes: [node('x1'), node('n1'), node('y1')],
    steps: [{ create: [pod('a', rack)], end: { a: 'n1' } }],
  },
  {
    name: 'extenders: say why there is no node',
    nodes: [node('x1'), node('y1'), node('y2')],
    steps: [
      {
        create: [pod('a', rack)],
        end: { a: refused(3, '1 no rack is free, 2 there is no rack', noVictims(3, 1)) },
      },
    ],
  },
  {
    name: 'extenders: a pod they refused is tried again whatever happens',
    nodes: [node('x1')],
    steps: [
      {
        create: [pod('a', rack)],
        end: { a: refused(1, '1 no rack is free', noVictims(1, 1)) },
      },
      { create: [node('n1')], end: { a: 'n1' } },
    ],
  },
  {
    name: 'extenders: their scores count',
    nodes: [node('n1', { cpu: '8', memory: '16Gi' }), node('n2'), node('n3', { cpu: '8', memory: '16Gi' })],
    steps: [{ create: [pod('a', rack)], end: { a: 'n2' } }],
  },
]

export const defaultBinder: readonly Scenario[] = [
  {
    name: 'DefaultBinder: many pods that come at once each get a place',
    nodes: [node('n1', { cpu: '2' }), node('n2', { cpu: '1', memory: '1Gi' })],
    steps: [
      {
        create: [pod('a', { cpu: '2' }), pod('b', { cpu: '1' }), pod('c', { cpu: '1' })],
        end: { a: 'n1', b: 'n2', c: refused(2, '2 Insufficient cpu', noVictims(2, 2)) },
      },
    ],
  },
]
