import { Node, Pod, Service } from '@coxswain/api/core/v1'
import { hostname, node, nodes, noVictims, pod, refused, type Scenario, zone, zoned } from './scenario.ts'

const app = { app: 'web' }
const constraint = (more: object = {}) => ({
  topologyKey: zone,
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: app },
  ...more,
})
const spread = (name: string, more: object = {}, shape: object = {}) =>
  pod(name, { labels: app, topologySpreadConstraints: [constraint(more)], ...shape })
const on = (name: string, nodeName: string, labels: Record<string, string> = app) =>
  pod(name, { labels, nodeName })
const skewed = "node(s) didn't match pod topology spread constraints"
const soft = { whenUnsatisfiable: 'ScheduleAnyway' }

export const topologySpread: readonly Scenario[] = [
  {
    name: 'PodTopologySpread: each zone gets its share',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b'), zoned('n3', 'c')],
    steps: [
      { create: [on('p1', 'n1'), on('p2', 'n3')], end: { p1: 'n1', p2: 'n3' } },
      { create: [spread('p3')], end: { p3: 'n2' } },
    ],
  },
  {
    name: 'PodTopologySpread: a zone that is full stops all the others',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { cpu: '1' })],
    steps: [
      { create: [on('p1', 'n1'), pod('other', { nodeName: 'n2' })], end: { p1: 'n1' } },
      {
        create: [spread('p2')],
        end: { p2: refused(2, `1 Insufficient cpu, 1 ${skewed}`, noVictims(2, 2)) },
      },
    ],
  },
  {
    name: 'PodTopologySpread: a larger skew is allowed when it is asked for',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { unschedulable: true })],
    steps: [
      { create: [on('p1', 'n1')], end: { p1: 'n1' } },
      { create: [spread('p2', { maxSkew: 2 })], end: { p2: 'n1' } },
      {
        create: [spread('p3', { maxSkew: 2 })],
        end: { p3: refused(2, `1 ${skewed}, 1 node(s) were unschedulable`, noVictims(2, 1)) },
      },
    ],
  },
  {
    name: 'PodTopologySpread: a node without the label is not taken',
    nodes: [node('n1'), zoned('n2', 'b', { unschedulable: true })],
    steps: [
      {
        create: [spread('p1')],
        end: { p1: refused(2, `1 ${skewed} (missing required label), 1 node(s) were unschedulable`) },
      },
    ],
  },
  {
    name: 'PodTopologySpread: with fewer domains than there should be, none may have more than the skew',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b')],
    steps: [
      { create: [on('p1', 'n1'), on('p2', 'n2')], end: { p1: 'n1', p2: 'n2' } },
      {
        create: [spread('p3', { minDomains: 3 })],
        end: { p3: refused(2, `2 ${skewed}`, noVictims(2, 2)) },
        tries: 1,
      },
      { create: [zoned('n3', 'c')], end: { p3: 'n3' } },
    ],
  },
  {
    name: 'PodTopologySpread: nodes that the selector leaves out are no domains, unless it is to be ignored',
    nodes: [
      zoned('n1', 'a', { labels: { disk: 'ssd' } }),
      zoned('n2', 'b', { labels: { disk: 'ssd' } }),
      zoned('n3', 'c'),
    ],
    steps: [
      { create: [on('p1', 'n1'), on('p2', 'n2')], end: { p1: 'n1', p2: 'n2' } },
      {
        create: [spread('p3', { nodeAffinityPolicy: 'Ignore' }, { nodeSelector: { disk: 'ssd' } })],
        end: {
          p3: refused(3, `1 node(s) didn't match Pod's node affinity/selector, 2 ${skewed}`, noVictims(3, 2)),
        },
      },
      {
        create: [on('p4', 'n1'), spread('p5', {}, { nodeSelector: { disk: 'ssd' } })],
        end: { p4: 'n1', p5: 'n2' },
      },
    ],
  },
  {
    name: 'PodTopologySpread: tainted nodes are domains, unless taints are to be honoured',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })],
    steps: [
      { create: [on('p1', 'n1')], end: { p1: 'n1' } },
      {
        create: [spread('p2'), spread('p3', { nodeTaintsPolicy: 'Honor' })],
        end: {
          p2: refused(2, `1 ${skewed}, 1 node(s) had untolerated taint(s)`, noVictims(2, 1)),
          p3: 'n1',
        },
      },
    ],
  },
  {
    name: 'PodTopologySpread: matchLabelKeys tell one generation from the other',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b')],
    steps: [
      {
        create: [
          on('p1', 'n1', { ...app, generation: '1' }),
          on('p2', 'n1', { ...app, generation: '1' }),
          on('p3', 'n2', { ...app, generation: '2' }),
        ],
        end: { p1: 'n1', p2: 'n1', p3: 'n2' },
      },
      {
        create: [spread('p4', { matchLabelKeys: ['generation'] }, { labels: { ...app, generation: '2' } })],
        end: { p4: 'n1' },
      },
    ],
  },
  {
    name: 'PodTopologySpread: two constraints both count',
    nodes: [zoned('n1', 'a'), zoned('n2', 'a'), zoned('n3', 'b')],
    steps: [
      { create: [on('p1', 'n1'), on('p2', 'n3')], end: { p1: 'n1', p2: 'n3' } },
      {
        create: [
          pod('p3', {
            labels: app,
            topologySpreadConstraints: [constraint(), constraint({ topologyKey: hostname })],
          }),
        ],
        end: { p3: 'n2' },
      },
    ],
  },
  {
    name: 'PodTopologySpread: a pod that does not match its own selector only looks',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { cpu: '1' })],
    steps: [
      { create: [on('p1', 'n1')], end: { p1: 'n1' } },
      { create: [spread('p2', {}, { labels: {}, cpu: '2' })], end: { p2: 'n1' } },
    ],
  },
  {
    name: 'PodTopologySpread: pods that go, and those of other namespaces, do not count',
    nodes: [zoned('n1', 'a', { cpu: '8', memory: '16Gi' }), zoned('n2', 'b', { cpu: '1' })],
    steps: [
      {
        create: [pod('p1', { labels: app, nodeName: 'n1', namespace: 'other' })],
        end: { 'other/p1': 'n1' },
      },
      { create: [spread('p2', {}, { cpu: '2' })], end: { p2: 'n1' } },
    ],
  },
  {
    name: 'PodTopologySpread: a preference takes the emptier zone',
    nodes: [zoned('n1', 'a'), zoned('n2', 'a'), zoned('n3', 'b')],
    steps: [
      { create: [on('p1', 'n1'), on('p2', 'n1'), pod('x', { nodeName: 'n3' })], end: { p2: 'n1' } },
      { create: [spread('p3', soft, { cpu: '100m' })], end: { p3: 'n3' } },
    ],
  },
  {
    name: 'PodTopologySpread: a preference gives way when the zone is full',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { cpu: '1' })],
    steps: [
      { create: [on('p1', 'n1'), on('p2', 'n1')], end: { p1: 'n1', p2: 'n1' } },
      { create: [spread('p3', soft, { cpu: '2' })], end: { p3: 'n1' } },
    ],
  },
  {
    name: 'PodTopologySpread: pods of a service are spread over hosts unasked',
    nodes: nodes({ cpu: '32', memory: '64Gi' }, 'n1', 'n2'),
    steps: [
      {
        create: [
          [
            Service,
            {
              metadata: { name: 'web', namespace: 'default' },
              spec: { selector: app, ports: [{ port: 80 }] },
            },
          ],
          on('p1', 'n1'),
          on('p2', 'n1'),
          pod('x', { nodeName: 'n2', cpu: '3' }),
        ],
        end: { p1: 'n1', p2: 'n1', x: 'n2' },
      },
      { create: [pod('p3', { labels: app, cpu: '100m' })], end: { p3: 'n2' } },
    ],
  },
  {
    name: 'PodTopologySpread: a pod that goes evens things out and wakes the one that waits',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { unschedulable: true })],
    steps: [
      { create: [on('p1', 'n1'), on('unrelated', 'n1', {})], end: { p1: 'n1' } },
      {
        create: [spread('p2')],
        end: { p2: refused(2, `1 ${skewed}, 1 node(s) were unschedulable`, noVictims(2, 1)) },
        tries: 1,
      },
      {
        delete: [[Pod, 'unrelated']],
        end: { p2: refused(2, `1 ${skewed}, 1 node(s) were unschedulable`, noVictims(2, 1)) },
        tries: 0,
      },
      { delete: [[Pod, 'p1']], end: { p2: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'PodTopologySpread: a domain that goes wakes the pod that waited for it to fill',
    nodes: [zoned('n1', 'a'), zoned('n2', 'b', { unschedulable: true })],
    steps: [
      { create: [on('p1', 'n1')], end: { p1: 'n1' } },
      {
        create: [spread('p2')],
        end: { p2: refused(2, `1 ${skewed}, 1 node(s) were unschedulable`, noVictims(2, 1)) },
        tries: 1,
      },
      { delete: [[Node, 'n2']], end: { p2: 'n1' }, tries: 1 },
    ],
  },
]
