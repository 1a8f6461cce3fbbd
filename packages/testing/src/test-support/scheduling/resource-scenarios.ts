import { Node, Pod } from '@coxswain/api/core/v1'
import { DeviceClass, ResourceSlice } from '@coxswain/api/resource/v1'
import { type Given, node, nodes, noVictims, pod, pods, refused, type Scenario } from './scenario.ts'

const gpu = 'example.com/gpu'
const mebibyte = 1024 * 1024
const init = (name: string, cpu: string, more: object = {}) => ({
  name,
  image: 'x',
  resources: { requests: { cpu } },
  ...more,
})
const sidecar = { restartPolicy: 'Always' }
const full = refused(1, '1 Insufficient cpu', noVictims(1, 1))

const card = 'example.com/card'
const cards = (nodeName: string, count: number): Given => [
  ResourceSlice,
  {
    metadata: { name: `cards-${nodeName}` },
    spec: {
      driver: 'card.example.com',
      nodeName,
      pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
      devices: Array.from({ length: count }, (_, index) => ({ name: `card-${index}` })),
    },
  },
]

export const nodeResourcesFit: readonly Scenario[] = [
  {
    name: 'NodeResourcesFit: cpu, memory and storage have to be there',
    nodes: [node('n1', { more: { 'ephemeral-storage': '10Gi' } })],
    steps: [
      {
        create: [
          pod('a', { cpu: '5' }),
          pod('b', { memory: '9Gi' }),
          pod('c', { requests: { 'ephemeral-storage': '11Gi' } }),
          pod('d', { cpu: '5', memory: '9Gi' }),
        ],
        end: {
          a: refused(1, '1 Insufficient cpu'),
          b: refused(1, '1 Insufficient memory'),
          c: refused(1, '1 Insufficient ephemeral-storage'),
          d: refused(1, '1 Insufficient cpu, 1 Insufficient memory'),
        },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: what the pods on a node ask for is taken',
    nodes: [node('n1', { cpu: '4' })],
    steps: [
      { create: [pod('a', { cpu: '3' })], end: { a: 'n1' } },
      {
        create: [pod('b', { cpu: '1500m' }), pod('c', { cpu: '1' })],
        end: { b: full, c: 'n1' },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: a node takes so many pods and no more',
    nodes: [node('n1', { pods: '2' })],
    steps: [
      { create: pods({ cpu: '' }, 'a', 'b'), end: { a: 'n1', b: 'n1' } },
      { create: [pod('c', { cpu: '' })], end: { c: refused(1, '1 Too many pods', noVictims(1, 1)) } },
    ],
  },
  {
    name: 'NodeResourcesFit: extended resources are counted',
    nodes: [node('n1'), node('n2', { more: { [gpu]: '2' } })],
    steps: [
      { create: [pod('a', { requests: { [gpu]: '2' } })], end: { a: 'n2' } },
      {
        create: [pod('b', { requests: { [gpu]: '1' } })],
        end: { b: refused(2, `2 Insufficient ${gpu}`, noVictims(2, 1)) },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: a pod that asks for nothing fits on a full node',
    nodes: [node('n1', { cpu: '1' })],
    steps: [{ create: [pod('a'), pod('b', { cpu: '' })], end: { a: 'n1', b: 'n1' } }],
  },
  {
    name: 'NodeResourcesFit: of init containers the greediest counts',
    nodes: [node('n1', { cpu: '3' }), node('n2', { cpu: '4' })],
    steps: [
      {
        create: [pod('a', { cpu: '1', initContainers: [init('i1', '2'), init('i2', '4')] })],
        end: { a: 'n2' },
      },
      {
        create: [pod('b', { cpu: '1', initContainers: [init('i1', '4')] })],
        end: { b: refused(2, '2 Insufficient cpu', noVictims(2, 1)) },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: sidecars count beside the containers, and beside later init containers',
    nodes: [node('n1', { cpu: '3' }), node('n2', { cpu: '4' })],
    steps: [
      {
        create: [pod('a', { cpu: '2', initContainers: [init('s1', '2', sidecar)] })],
        end: { a: 'n2' },
      },
      {
        create: [pod('b', { cpu: '1', initContainers: [init('s1', '2', sidecar), init('i1', '2')] })],
        end: { b: refused(2, '2 Insufficient cpu', noVictims(2, 1)) },
      },
      {
        create: [pod('c', { cpu: '1', initContainers: [init('i1', '3'), init('s1', '2', sidecar)] })],
        end: { c: 'n1' },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: what a pod asks for as a whole counts instead of the sum of its containers',
    nodes: [node('n1', { cpu: '2' }), node('n2', { cpu: '4' })],
    steps: [
      { create: [pod('a', { cpu: '1', resources: { requests: { cpu: '3' } } })], end: { a: 'n2' } },
      {
        create: [pod('b', { cpu: '1', resources: { requests: { cpu: '2500m' } } })],
        end: { b: refused(2, '2 Insufficient cpu', noVictims(2, 1)) },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: what a pod asks for as a whole does not count when nodes are compared',
    nodes: [node('n1', { cpu: '3500m', memory: '16Gi' }), node('n2', { cpu: '16', memory: '4Gi' })],
    steps: [
      {
        create: [pod('a', { cpu: '100m', memory: '2Gi', resources: { requests: { cpu: '2' } } })],
        end: { a: 'n1' },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: what only some pods ask for does not count for others when nodes are compared',
    nodes: [node('n1', { cpu: '3', more: { [card]: '4' } }), node('n2', { cpu: '4' })],
    steps: [{ create: [pod('a', { schedulerName: 'counting' })], end: { a: 'n2' } }],
  },
  {
    name: 'NodeResourcesFit: devices count as what they stand for when nodes are compared',
    nodes: [
      node('n1', { cpu: '4' }),
      node('n2', { cpu: '8' }),
      [DeviceClass, { metadata: { name: 'cards' }, spec: { extendedResourceName: card } }],
      cards('n1', 4),
      cards('n2', 1),
    ],
    steps: [
      { create: [pod('a', { schedulerName: 'counting', requests: { [card]: '1' } })], end: { a: 'n1' } },
    ],
  },
  {
    name: 'NodeResourcesFit: a pod with a pending resize still uses its allocated resources',
    nodes: [node('n1', { cpu: '4' })],
    steps: [
      { create: [pod('a', { cpu: '4' })], end: { a: 'n1' } },
      {
        patch: [
          [
            Pod,
            'a',
            {
              status: {
                phase: 'Running',
                containerStatuses: [
                  {
                    name: 'main',
                    image: 'x',
                    imageID: '',
                    ready: true,
                    restartCount: 0,
                    allocatedResources: { cpu: '4' },
                    resources: { requests: { cpu: '4' } },
                  },
                ],
              },
            },
            'status',
          ],
          [
            Pod,
            'a',
            { spec: { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }] } },
            'resize',
          ],
        ],
        create: [pod('b', { cpu: '2' })],
        end: { b: full },
      },
      {
        patch: [
          [
            Pod,
            'a',
            {
              status: {
                containerStatuses: [
                  {
                    name: 'main',
                    image: 'x',
                    imageID: '',
                    ready: true,
                    restartCount: 0,
                    allocatedResources: { cpu: '1' },
                    resources: { requests: { cpu: '1' } },
                  },
                ],
              },
            },
            'status',
          ],
        ],
        end: { a: 'n1', b: 'n1' },
      },
    ],
  },
  {
    name: 'NodeResourcesFit: a pod that goes wakes the one that lacked room',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a')], end: { a: 'n1' } },
      { create: [pod('b')], end: { b: full }, tries: 1 },
      { delete: [[Pod, 'a']], end: { b: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'NodeResourcesFit: a pod that has finished takes no room',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a')], end: { a: 'n1' } },
      { create: [pod('b')], end: { b: full } },
      { patch: [[Pod, 'a', { status: { phase: 'Succeeded' } }, 'status']], end: { b: 'n1' } },
    ],
  },
  {
    name: 'NodeResourcesFit: a node that grows wakes the pod, other changes of it do not',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', { cpu: '2' })], end: { a: refused(1, '1 Insufficient cpu') }, tries: 1 },
      {
        patch: [
          [Node, 'n1', { metadata: { labels: { some: 'label' } } }],
          [Node, 'n1', { status: { allocatable: { memory: '16Gi' } } }, 'status'],
        ],
        end: { a: refused(1, '1 Insufficient cpu') },
        tries: 0,
      },
      {
        patch: [[Node, 'n1', { status: { allocatable: { cpu: '1500m' } } }, 'status']],
        end: { a: refused(1, '1 Insufficient cpu') },
        tries: 0,
      },
      {
        patch: [[Node, 'n1', { status: { allocatable: { cpu: '2' } } }, 'status']],
        end: { a: 'n1' },
        tries: 1,
      },
    ],
  },
  {
    name: 'NodeResourcesFit: a node that comes wakes the pod when it is large enough',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      { create: [pod('a', { cpu: '2' })], end: { a: refused(1, '1 Insufficient cpu') }, tries: 1 },
      {
        create: [node('n2', { cpu: '1' })],
        end: { a: refused(2, '2 Insufficient cpu') },
        tries: 1, // when its first taint goes
      },
      { create: [node('n3', { cpu: '2' })], end: { a: 'n3' } },
    ],
  },
  {
    name: 'NodeResourcesFit: the emptier node is taken',
    nodes: nodes({ cpu: '4' }, 'n1', 'n2'),
    steps: [
      { create: [pod('a', { nodeName: 'n1' })], end: { a: 'n1' } },
      { create: [pod('b')], end: { b: 'n2' } },
    ],
  },
  {
    name: 'NodeResourcesFit: of two empty nodes the larger is taken',
    nodes: [node('n1', { cpu: '4', memory: '8Gi' }), node('n2', { cpu: '16', memory: '32Gi' })],
    steps: [{ create: [pod('a', { cpu: '2', memory: '4Gi' })], end: { a: 'n2' } }],
  },
  {
    name: 'NodeResourcesFit: pods that ask for nothing are spread as if they asked for a little',
    nodes: nodes({ cpu: '2', memory: '2Gi' }, 'n1', 'n2'),
    steps: [
      { create: pods({ cpu: '', nodeName: 'n1' }, 'a', 'b'), end: { a: 'n1', b: 'n1' } },
      { create: [pod('c', { cpu: '' })], end: { c: 'n2' } },
    ],
  },
]

export const balancedAllocation: readonly Scenario[] = [
  {
    name: 'NodeResourcesBalancedAllocation: a pod goes where it evens out what is used',
    nodes: nodes({ cpu: '10', memory: '10Gi' }, 'n1', 'n2'),
    steps: [
      {
        create: [
          pod('a', { nodeName: 'n1', cpu: '4', memory: '1Gi' }),
          pod('b', { nodeName: 'n2', cpu: '1', memory: '4Gi' }),
        ],
        end: { a: 'n1', b: 'n2' },
      },
      { create: [pod('c', { cpu: '500m', memory: '3500Mi' })], end: { c: 'n1' } },
    ],
  },
  {
    name: 'NodeResourcesBalancedAllocation: a pod of another shape goes to the other',
    nodes: nodes({ cpu: '10', memory: '10Gi' }, 'n1', 'n2'),
    steps: [
      {
        create: [
          pod('a', { nodeName: 'n1', cpu: '4', memory: '1Gi' }),
          pod('b', { nodeName: 'n2', cpu: '1', memory: '4Gi' }),
        ],
        end: { a: 'n1', b: 'n2' },
      },
      { create: [pod('c', { cpu: '3500m', memory: '500Mi' })], end: { c: 'n2' } },
    ],
  },
]

const withImage = (name: string, image: string) => pod(name, { container: { image } })

export const imageLocality: readonly Scenario[] = [
  {
    name: 'ImageLocality: a node that has a large image is taken',
    nodes: [node('n1'), node('n2', { images: { 'app:1': 900 * mebibyte } })],
    steps: [{ create: [withImage('a', 'app:1')], end: { a: 'n2' } }],
  },
  {
    name: 'ImageLocality: an image without a tag is the latest',
    nodes: [node('n1'), node('n2', { images: { 'app:latest': 900 * mebibyte } })],
    steps: [{ create: [withImage('a', 'app')], end: { a: 'n2' } }],
  },
  {
    name: 'ImageLocality: the larger of two images counts more',
    nodes: [
      node('n1', { images: { 'side:1': 200 * mebibyte } }),
      node('n2', { images: { 'app:1': 900 * mebibyte } }),
      node('n3'),
    ],
    steps: [
      {
        create: [
          pod('a', {
            containers: [
              { name: 'one', image: 'app:1' },
              { name: 'two', image: 'side:1' },
            ],
          }),
        ],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'ImageLocality: a small image counts for nothing, the emptier node wins',
    nodes: [node('n1', { images: { 'app:1': 20 * mebibyte } }), node('n2', { cpu: '8', memory: '16Gi' })],
    steps: [{ create: [withImage('a', 'app:1')], end: { a: 'n2' } }],
  },
]
