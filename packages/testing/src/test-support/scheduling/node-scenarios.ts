import { Node, Pod } from '@coxswain/api/core/v1'
import { node, nodes, pod, pods, refused, type Scenario } from './scenario.ts'

const taint = (key: string, effect = 'NoSchedule', value?: string) => ({
  key,
  effect,
  ...(value && { value }),
})
const required = (...nodeSelectorTerms: readonly object[]) => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
})
const expression = (key: string, operator: string, ...values: readonly string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
})
const named = (...values: readonly string[]) => ({
  matchFields: [{ key: 'metadata.name', operator: 'In', values }],
})
const preferred = (...terms: readonly (readonly [number, object])[]) => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: terms.map(([weight, preference]) => ({
        weight,
        preference,
      })),
    },
  },
})
const gate = (...names: readonly string[]) => ({ schedulingGates: names.map(name => ({ name })) })
const noMatch = "node(s) didn't match Pod's node affinity/selector"
const port = (hostPort: number, more: object = {}) => ({
  container: { ports: [{ containerPort: 80, hostPort, ...more }] },
})
const noPorts = "node(s) didn't have free ports for the requested pod ports"

export const schedulingGates: readonly Scenario[] = [
  {
    name: 'SchedulingGates: a pod with gates is not tried, and says so',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', gate('example.com/one', 'example.com/two'))],
        end: { a: 'Scheduling is blocked due to non-empty scheduling gates' },
        tries: 0,
      },
    ],
  },
  {
    name: 'SchedulingGates: the last gate that is lifted lets the pod in',
    nodes: [node('n1')],
    steps: [
      { create: [pod('a', gate('example.com/one', 'example.com/two'))], tries: 0 },
      {
        patch: [[Pod, 'a', { spec: gate('example.com/two') }]],
        end: { a: 'Scheduling is blocked due to non-empty scheduling gates' },
        tries: 0,
      },
      { patch: [[Pod, 'a', { spec: { schedulingGates: null } }]], end: { a: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'SchedulingGates: a gated pod takes no room',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('gated', gate('example.com/one')), pod('free')], end: { free: 'n1' }, tries: 1 },
      {
        patch: [[Pod, 'gated', { spec: { schedulingGates: null } }]],
        end: {
          gated: refused(
            1,
            '1 Insufficient cpu',
            '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
          ),
        },
        tries: 1,
      },
    ],
  },
]

export const nodeUnschedulable: readonly Scenario[] = [
  {
    name: 'NodeUnschedulable: a cordoned node takes no pods',
    nodes: [node('n1', { unschedulable: true })],
    steps: [{ create: [pod('a')], end: { a: refused(1, '1 node(s) were unschedulable') }, tries: 1 }],
  },
  {
    name: 'NodeUnschedulable: a pod that tolerates it gets there all the same',
    nodes: [node('n1', { unschedulable: true })],
    steps: [
      {
        create: [
          pod('a', { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
        ],
        end: { a: 'n1' },
      },
    ],
  },
  {
    name: 'NodeUnschedulable: a node that is uncordoned wakes the pod',
    nodes: [node('n1', { unschedulable: true })],
    steps: [
      { create: [pod('a')], end: { a: refused(1, '1 node(s) were unschedulable') }, tries: 1 },
      {
        patch: [[Node, 'n1', { metadata: { labels: { some: 'label' } } }]],
        end: { a: refused(1, '1 node(s) were unschedulable') },
        tries: 0,
      },
      { patch: [[Node, 'n1', { spec: { unschedulable: null } }]], end: { a: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'NodeUnschedulable: the other node is taken',
    nodes: [node('n1', { unschedulable: true }), node('n2')],
    steps: [{ create: pods({}, 'a', 'b'), end: { a: 'n2', b: 'n2' } }],
  },
]

export const taintToleration: readonly Scenario[] = [
  {
    name: 'TaintToleration: a taint that is not tolerated keeps pods away',
    nodes: [node('n1', { taints: [taint('gpu')] }), node('n2', { taints: [taint('old', 'NoExecute')] })],
    steps: [{ create: [pod('a')], end: { a: refused(2, '2 node(s) had untolerated taint(s)') } }],
  },
  {
    name: 'TaintToleration: key, value and effect have to match',
    nodes: [node('n1', { taints: [taint('gpu', 'NoSchedule', 'big')] })],
    steps: [
      {
        create: [
          pod('same', { tolerations: [{ key: 'gpu', value: 'big', effect: 'NoSchedule' }] }),
          pod('value', { tolerations: [{ key: 'gpu', value: 'small', effect: 'NoSchedule' }] }),
          pod('effect', { tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }] }),
          pod('any', { tolerations: [{ operator: 'Exists' }] }),
        ],
        end: {
          same: 'n1',
          value: refused(1, '1 node(s) had untolerated taint(s)'),
          effect: refused(1, '1 node(s) had untolerated taint(s)'),
          any: 'n1',
        },
      },
    ],
  },
  {
    name: 'TaintToleration: of several taints every one has to be tolerated',
    nodes: [node('n1', { taints: [taint('gpu'), taint('old')] })],
    steps: [
      {
        create: [
          pod('a', { tolerations: [{ key: 'gpu', operator: 'Exists' }] }),
          pod('b', {
            tolerations: [
              { key: 'gpu', operator: 'Exists' },
              { key: 'old', operator: 'Exists' },
            ],
          }),
        ],
        end: { a: refused(1, '1 node(s) had untolerated taint(s)'), b: 'n1' },
      },
    ],
  },
  {
    name: 'TaintToleration: a node that is only to be avoided is taken last',
    nodes: [
      node('n1', { taints: [taint('slow', 'PreferNoSchedule')] }),
      node('n2'),
      node('n3', { cpu: '1' }),
    ],
    steps: [
      {
        create: [pod('a', { cpu: '2' })],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'TaintToleration: fewer taints to avoid are better than more',
    nodes: [
      node('n1', { taints: [taint('slow', 'PreferNoSchedule'), taint('far', 'PreferNoSchedule')] }),
      node('n2', { taints: [taint('slow', 'PreferNoSchedule')] }),
    ],
    steps: [{ create: [pod('a')], end: { a: 'n2' } }],
  },
  {
    name: 'TaintToleration: a taint to avoid that is tolerated counts for nothing',
    nodes: [
      node('n1', { cpu: '8', memory: '16Gi', taints: [taint('slow', 'PreferNoSchedule')] }),
      node('n2', { cpu: '4' }),
    ],
    steps: [
      {
        create: [
          pod('a', { tolerations: [{ key: 'slow', operator: 'Exists', effect: 'PreferNoSchedule' }] }),
        ],
        end: { a: 'n1' },
      },
    ],
  },
  {
    name: 'TaintToleration: a taint that goes wakes the pod, one that stays does not',
    nodes: [node('n1', { taints: [taint('gpu'), taint('old')] })],
    steps: [
      { create: [pod('a')], end: { a: refused(1, '1 node(s) had untolerated taint(s)') }, tries: 1 },
      {
        patch: [[Node, 'n1', { spec: { taints: [taint('gpu')] } }]],
        end: { a: refused(1, '1 node(s) had untolerated taint(s)') },
        tries: 0,
      },
      { patch: [[Node, 'n1', { spec: { taints: null } }]], end: { a: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'TaintToleration: a toleration that is added wakes the pod',
    nodes: [node('n1', { taints: [taint('gpu')] })],
    steps: [
      {
        create: [pod('a')],
        end: { a: refused(1, '1 node(s) had untolerated taint(s)') },
        tries: 1,
      },
      {
        patch: [
          [
            Pod,
            'a',
            {
              spec: {
                tolerations: [
                  {
                    key: 'node.kubernetes.io/not-ready',
                    operator: 'Exists',
                    effect: 'NoExecute',
                    tolerationSeconds: 300,
                  },
                  {
                    key: 'node.kubernetes.io/unreachable',
                    operator: 'Exists',
                    effect: 'NoExecute',
                    tolerationSeconds: 300,
                  },
                  { key: 'gpu', operator: 'Exists' },
                ],
              },
            },
          ],
        ],
        end: { a: 'n1' },
        tries: 1,
      },
    ],
  },
]

export const nodeAffinity: readonly Scenario[] = [
  {
    name: 'NodeAffinity: a node selector asks for labels',
    nodes: [node('n1'), node('n2', { labels: { disk: 'ssd' } })],
    steps: [
      {
        create: [pod('a', { nodeSelector: { disk: 'ssd' } }), pod('b', { nodeSelector: { disk: 'tape' } })],
        end: { a: 'n2', b: refused(2, `2 ${noMatch}`) },
      },
    ],
  },
  {
    name: 'NodeAffinity: any of the required terms will do',
    nodes: [node('n1', { labels: { disk: 'hdd' } }), node('n2', { labels: { size: '9' } })],
    steps: [
      {
        create: [pod('a', required(expression('disk', 'In', 'ssd', 'tape'), expression('size', 'Gt', '8')))],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'NodeAffinity: NotIn and DoesNotExist match nodes without the label',
    nodes: [node('n1', { labels: { disk: 'hdd' } }), node('n2')],
    steps: [
      {
        create: [
          pod('a', required(expression('disk', 'NotIn', 'hdd'))),
          pod('b', required(expression('disk', 'DoesNotExist'))),
          pod('c', required(expression('disk', 'Exists'))),
          pod('d', required(expression('disk', 'Lt', '5'))),
        ],
        end: { a: 'n2', b: 'n2', c: 'n1', d: refused(2, `2 ${noMatch}`) },
      },
    ],
  },
  {
    name: 'NodeAffinity: the selector and the affinity both count',
    nodes: [
      node('n1', { labels: { disk: 'ssd' } }),
      node('n2', { labels: { disk: 'ssd', size: 'big' } }),
      node('n3', { labels: { size: 'big' } }),
    ],
    steps: [
      {
        create: [pod('a', { nodeSelector: { disk: 'ssd' }, ...required(expression('size', 'In', 'big')) })],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'NodeAffinity: a node that is named is the only one that is looked at',
    nodes: nodes({}, 'n1', 'n2', 'n3'),
    steps: [
      {
        create: [pod('a', required(named('n2'))), pod('b', { cpu: '9', ...required(named('n3')) })],
        end: {
          a: 'n2',
          b: refused(3, "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
        },
      },
    ],
  },
  {
    name: 'NodeAffinity: a node that is named and is not there is waited for',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', required(named('n2')))],
        end: { a: refused(1, "1 node(s) didn't satisfy plugin(s) [NodeAffinity]") },
        tries: 1,
      },
      { create: [node('n2')], end: { a: 'n2' } },
    ],
  },
  {
    name: 'NodeAffinity: of nodes that will do the one with the heavier preference is taken',
    nodes: [
      node('n1', { labels: { disk: 'ssd' } }),
      node('n2', { labels: { size: 'big' } }),
      node('n3', { labels: { disk: 'hdd' } }),
    ],
    steps: [
      {
        create: [
          pod('a', preferred([10, expression('disk', 'In', 'ssd')], [80, expression('size', 'In', 'big')])),
        ],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'NodeAffinity: preferences add up',
    nodes: [
      node('n1', { labels: { disk: 'ssd', size: 'big' } }),
      node('n2', { labels: { size: 'big', near: 'yes' } }),
      node('n3', { labels: { near: 'yes' } }),
    ],
    steps: [
      {
        create: [
          pod(
            'a',
            preferred(
              [30, expression('disk', 'In', 'ssd')],
              [40, expression('size', 'In', 'big')],
              [35, expression('near', 'Exists')],
            ),
          ),
        ],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'NodeAffinity: a label that comes wakes the pod, another does not',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', { nodeSelector: { disk: 'ssd' } })],
        end: { a: refused(1, `1 ${noMatch}`) },
        tries: 1,
      },
      {
        patch: [[Node, 'n1', { metadata: { labels: { disk: 'hdd' } } }]],
        end: { a: refused(1, `1 ${noMatch}`) },
        tries: 0,
      },
      { patch: [[Node, 'n1', { metadata: { labels: { disk: 'ssd' } } }]], end: { a: 'n1' }, tries: 1 },
    ],
  },
]

export const nodePorts: readonly Scenario[] = [
  {
    name: 'NodePorts: a host port is given out once',
    nodes: nodes({}, 'n1', 'n2'),
    steps: [
      {
        create: [
          pod('a', { nodeName: 'n1', ...port(8080) }),
          pod('b', { nodeName: 'n2', ...port(8080) }),
          pod('c', port(8080)),
        ],
        end: {
          c: refused(
            2,
            `2 ${noPorts}`,
            '0/2 nodes are available: 2 No preemption victims found for incoming pod.',
          ),
        },
      },
    ],
  },
  {
    name: 'NodePorts: another protocol is another port',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', port(8080)), pod('b', port(8080, { protocol: 'UDP' })), pod('c', port(8081))],
        end: { a: 'n1', b: 'n1', c: 'n1' },
      },
    ],
  },
  {
    name: 'NodePorts: another address is another port, and any address is all of them',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', { nodeName: 'n1', ...port(8080, { hostIP: '127.0.0.1' }) })],
        end: { a: 'n1' },
      },
      {
        create: [
          pod('b', port(8080, { hostIP: '10.1.1.1' })),
          pod('c', port(8080)),
          pod('d', port(8080, { hostIP: '127.0.0.1' })),
        ],
        end: {
          b: 'n1',
          c: refused(
            1,
            `1 ${noPorts}`,
            '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
          ),
          d: refused(
            1,
            `1 ${noPorts}`,
            '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
          ),
        },
      },
    ],
  },
  {
    name: 'NodePorts: the ports of sidecars count',
    nodes: [node('n1')],
    steps: [
      {
        create: [
          pod('a', {
            nodeName: 'n1',
            initContainers: [
              {
                name: 'side',
                image: 'x',
                restartPolicy: 'Always',
                ports: [{ containerPort: 80, hostPort: 8080 }],
              },
            ],
          }),
        ],
        end: { a: 'n1' },
      },
      {
        create: [pod('b', port(8080))],
        end: {
          b: refused(
            1,
            `1 ${noPorts}`,
            '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
          ),
        },
      },
    ],
  },
  {
    name: 'NodePorts: a port that is given back wakes the pod, another pod that goes does not',
    nodes: [node('n1')],
    steps: [
      {
        create: [pod('a', { nodeName: 'n1', ...port(8080) }), pod('other', { nodeName: 'n1' })],
        end: { a: 'n1' },
      },
      {
        create: [pod('b', port(8080))],
        end: {
          b: refused(
            1,
            `1 ${noPorts}`,
            '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
          ),
        },
        tries: 1,
      },
      {
        delete: [[Pod, 'other']],
        end: {
          b: refused(
            1,
            `1 ${noPorts}`,
            '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
          ),
        },
        tries: 0,
      },
      { delete: [[Pod, 'a']], end: { b: 'n1' }, tries: 1 },
    ],
  },
]

export const nodeName: readonly Scenario[] = [
  {
    name: 'NodeName: a pod that names its node is not scheduled, but counts',
    nodes: [node('n1', { cpu: '2' }), node('n2', { cpu: '1' })],
    steps: [
      {
        create: [pod('a', { nodeName: 'n1', cpu: '2' })],
        end: { a: 'n1' },
        tries: 0,
      },
      { create: [pod('b')], end: { b: 'n2' }, tries: 1 },
    ],
  },
  {
    name: 'NodeName: a pod on a node that is not there counts when the node comes',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', { nodeName: 'n2', cpu: '4' })], end: { a: 'n2' } },
      { create: [node('n2')], end: {} },
      {
        create: [pod('b', { cpu: '2' })],
        end: {
          b: refused(
            2,
            '2 Insufficient cpu',
            '0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.',
          ),
        },
      },
    ],
  },
]
