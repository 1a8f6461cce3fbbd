import { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { CSINode, StorageClass, VolumeAttachment } from '@coxswain/api/storage/v1'
import {
  type Given,
  node,
  nodes,
  noVictims,
  pod,
  refused,
  refusedAtOnce,
  type Scenario,
  zone,
  zoned,
} from './scenario.ts'

const driver = 'disk.example.com'
const storage = { requests: { storage: '1Gi' } }

interface VolumeShape {
  readonly labels?: Readonly<Record<string, string>>
  readonly className?: string
  readonly size?: string
  /** Bound to the claim of this name. */
  readonly claim?: string
  /** Only there. */
  readonly nodeName?: string
  readonly source?: object
}
const volume = (name: string, shape: VolumeShape = {}): Given => {
  const { labels = {}, className = '', size = '1Gi', claim, nodeName } = shape
  const required = {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
    ],
  }
  return [
    PersistentVolume,
    {
      metadata: { name, labels },
      spec: {
        capacity: { storage: size },
        accessModes: ['ReadWriteOnce'],
        storageClassName: className,
        csi: { driver, volumeHandle: name },
        ...shape.source,
        ...(claim && { claimRef: { namespace: 'default', name: claim } }),
        ...(nodeName && { nodeAffinity: { required } }),
      },
      status: { phase: claim ? 'Bound' : 'Available' },
    },
  ]
}
interface ClaimShape {
  readonly volumeName?: string
  readonly className?: string
  readonly mode?: string
  readonly phase?: string
  readonly size?: string
}
const claim = (name: string, shape: ClaimShape = {}): Given => {
  const { volumeName, className = '', mode = 'ReadWriteOnce', size = '1Gi' } = shape
  const annotations = volumeName ? { 'pv.kubernetes.io/bind-completed': 'yes' } : {}
  return [
    PersistentVolumeClaim,
    {
      metadata: { name, namespace: 'default', annotations },
      spec: {
        accessModes: [mode],
        resources: { requests: { storage: size } },
        storageClassName: className,
        ...(volumeName && { volumeName }),
      },
      status: { phase: shape.phase ?? (volumeName ? 'Bound' : 'Pending') },
    },
  ]
}
const pair = (name: string, shape: VolumeShape = {}, mode = 'ReadWriteOnce'): Given[] => [
  volume(name, { ...shape, claim: name }),
  claim(name, { volumeName: name, mode }),
]
const storageClass = (name: string, more: object = {}): Given => [
  StorageClass,
  {
    metadata: { name },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  },
]
const using = (name: string, ...claims: readonly string[]) =>
  pod(name, {
    volumes: claims.map((claimName, index) => ({
      name: `v${index}`,
      persistentVolumeClaim: { claimName },
    })),
  })
const disk = (name: string, source: object, more: object = {}) =>
  pod(name, { volumes: [{ name: 'v', ...source }], ...more })
const only = { persistentVolumeClaim: { claimName: 'only' } }
const gce = (pdName: string, readOnly = false) => ({ gcePersistentDisk: { pdName, readOnly } })
const limit = (name: string, count: number): Given => [
  CSINode,
  {
    metadata: { name },
    spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: [], allocatable: { count } }] },
  },
]
const noDisk = 'node(s) had no available disk'
const inUse =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'
const tooMany = 'node(s) exceed max volume count'
const noZone = 'node(s) had no available volume zone'
const farAway = "node(s) didn't match PersistentVolume's node affinity"
const noVolume = "node(s) didn't find available persistent volumes to bind"
const bound = (name: string) =>
  [PersistentVolumeClaim, name, { status: { phase: 'Bound' } }, 'status'] as const
const completed = (name: string, volumeName: string) =>
  [
    PersistentVolumeClaim,
    name,
    { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }, spec: { volumeName } },
  ] as const

export const volumeRestrictions: readonly Scenario[] = [
  {
    name: 'VolumeRestrictions: a disk is used on one node at a time by one pod',
    nodes: [node('n1'), node('n2', { unschedulable: true })],
    steps: [
      { create: [disk('a', gce('one'))], end: { a: 'n1' } },
      {
        create: [disk('b', gce('one')), disk('c', gce('two'))],
        end: {
          b: refused(2, `1 ${noDisk}, 1 node(s) were unschedulable`, noVictims(2, 1)),
          c: 'n1',
        },
      },
    ],
  },
  {
    name: 'VolumeRestrictions: pods that only read share a disk',
    nodes: [node('n1')],
    steps: [
      { create: [disk('a', gce('one', true))], end: { a: 'n1' } },
      {
        create: [disk('b', gce('one', true)), disk('c', gce('one'))],
        end: { b: 'n1', c: refused(1, `1 ${noDisk}`, noVictims(1, 1)) },
      },
    ],
  },
  {
    name: 'VolumeRestrictions: of another kind of disk too',
    nodes: [node('n1')],
    steps: [
      {
        create: [disk('a', { awsElasticBlockStore: { volumeID: 'x', readOnly: true } }, { nodeName: 'n1' })],
        end: { a: 'n1' },
      },
      {
        create: [disk('b', { awsElasticBlockStore: { volumeID: 'x', readOnly: true } })],
        end: { b: refused(1, `1 ${noDisk}`, noVictims(1, 1)) },
      },
    ],
  },
  {
    name: 'VolumeRestrictions: the deletion of the pod with the disk wakes the other, that of an unrelated pod does not',
    nodes: [node('n1')],
    steps: [
      { create: [disk('a', gce('one')), pod('x')], end: { a: 'n1', x: 'n1' } },
      { create: [disk('b', gce('one'))], end: { b: refused(1, `1 ${noDisk}`, noVictims(1, 1)) }, tries: 1 },
      { delete: [[Pod, 'x']], end: { b: refused(1, `1 ${noDisk}`, noVictims(1, 1)) }, tries: 0 },
      { delete: [[Pod, 'a']], end: { b: 'n1' }, tries: 1 },
    ],
  },
  {
    name: 'VolumeRestrictions: a claim for one pod is used by one pod',
    nodes: nodes({}, 'n1', 'n2'),
    steps: [
      {
        create: [
          ...pair('only', { labels: { [zone]: 'x' } }, 'ReadWriteOncePod'),
          pod('a', {
            nodeName: 'n1',
            volumes: [{ name: 'v', ...only }],
          }),
        ],
        end: { a: 'n1' },
      },
      {
        create: [using('b', 'only')],
        end: { b: refused(2, `2 ${inUse}`, noVictims(2, 2)) },
        tries: 1,
      },
      { delete: [[Pod, 'a']], patch: [[Node, 'n1', { spec: { unschedulable: true } }]], end: { b: 'n2' } },
    ],
  },
  {
    name: 'VolumeRestrictions: a claim for one pod that two use counts as used by one',
    nodes: nodes({}, 'n1', 'n2'),
    steps: [
      {
        create: [
          ...pair('only', {}, 'ReadWriteOncePod'),
          disk('a', only, { nodeName: 'n1', priorityClassName: 'higher' }),
          disk('b', only, { nodeName: 'n2' }),
        ],
        end: { a: 'n1', b: 'n2' },
      },
      {
        create: [disk('c', only, { priorityClassName: 'high' })],
        end: { a: 'n1', b: 'gone', c: refused(2, `2 ${inUse}`, noVictims(2, 2)) },
      },
    ],
  },
]

export const nodeVolumeLimits: readonly Scenario[] = [
  {
    name: 'NodeVolumeLimits: a driver attaches so many volumes to a node and no more',
    nodes: [node('n1'), limit('n1', 2)],
    steps: [
      {
        create: [...pair('v1'), ...pair('v2'), ...pair('v3'), using('a', 'v1', 'v2')],
        end: { a: 'n1' },
      },
      { create: [using('b', 'v3')], end: { b: refused(1, `1 ${tooMany}`, noVictims(1, 1)) } },
    ],
  },
  {
    name: 'NodeVolumeLimits: a volume that is there already does not count twice',
    nodes: [node('n1'), limit('n1', 1)],
    steps: [
      { create: [...pair('v1'), using('a', 'v1')], end: { a: 'n1' } },
      { create: [using('b', 'v1')], end: { b: 'n1' } },
    ],
  },
  {
    name: 'NodeVolumeLimits: what is still attached counts until it is detached',
    nodes: [node('n1'), limit('n1', 1)],
    steps: [
      {
        create: [
          ...pair('v1'),
          ...pair('v2'),
          [
            VolumeAttachment,
            {
              metadata: { name: 'left' },
              spec: { attacher: driver, nodeName: 'n1', source: { persistentVolumeName: 'v1' } },
            },
          ],
          using('a', 'v2'),
        ],
        end: { a: refused(1, `1 ${tooMany}`, noVictims(1, 1)) },
      },
      { delete: [[VolumeAttachment, 'left']], end: { a: 'n1' } },
    ],
  },
  {
    name: 'NodeVolumeLimits: another node has room',
    nodes: [node('n1', { cpu: '8', memory: '16Gi' }), limit('n1', 1), node('n2'), limit('n2', 1)],
    steps: [
      { create: [...pair('v1'), ...pair('v2'), using('a', 'v1')], end: { a: 'n1' } },
      { create: [using('b', 'v2')], end: { b: 'n2' } },
    ],
  },
  {
    name: 'NodeVolumeLimits: a higher limit wakes the pod, a pod without volumes that goes does not',
    nodes: [node('n1'), limit('n1', 1)],
    steps: [
      { create: [...pair('v1'), ...pair('v2'), using('a', 'v1'), pod('x')], end: { a: 'n1', x: 'n1' } },
      { create: [using('b', 'v2')], end: { b: refused(1, `1 ${tooMany}`, noVictims(1, 1)) }, tries: 1 },
      { delete: [[Pod, 'x']], end: { b: refused(1, `1 ${tooMany}`, noVictims(1, 1)) }, tries: 0 },
      {
        patch: [
          [
            CSINode,
            'n1',
            {
              spec: {
                drivers: [{ name: driver, nodeID: 'n1', topologyKeys: [], allocatable: { count: 2 } }],
              },
            },
          ],
        ],
        end: { b: 'n1' },
        tries: 1,
      },
    ],
    onlyVirtual: 'the limit of a driver cannot be changed through the API',
  },
]

export const volumeZone: readonly Scenario[] = [
  {
    name: 'VolumeZone: a volume with a zone is used there',
    nodes: [zoned('n1', 'a', { cpu: '8', memory: '16Gi' }), zoned('n2', 'b')],
    steps: [{ create: [...pair('v1', { labels: { [zone]: 'b' } }), using('a', 'v1')], end: { a: 'n2' } }],
  },
  {
    name: 'VolumeZone: there is no node in the volume’s zone',
    nodes: [zoned('n1', 'a')],
    steps: [
      {
        create: [...pair('v1', { labels: { [zone]: 'b' } }), using('a', 'v1')],
        end: { a: refused(1, `1 ${noZone}`) },
      },
    ],
  },
  {
    name: 'VolumeZone: a volume may be in several zones',
    nodes: [zoned('n1', 'a', { cpu: '8', memory: '16Gi' }), zoned('n2', 'c')],
    steps: [{ create: [...pair('v1', { labels: { [zone]: 'b__c' } }), using('a', 'v1')], end: { a: 'n2' } }],
  },
  {
    name: 'VolumeZone: nodes without zones take all volumes',
    nodes: [node('n1')],
    steps: [{ create: [...pair('v1', { labels: { [zone]: 'b' } }), using('a', 'v1')], end: { a: 'n1' } }],
  },
]

export const volumeBinding: readonly Scenario[] = [
  {
    name: 'VolumeBinding: a claim that is not there is waited for',
    nodes: [node('n1')],
    steps: [
      {
        create: [using('a', 'v1')],
        end: { a: refusedAtOnce(1, 'persistentvolumeclaim "v1" not found') },
        tries: 1,
      },
      {
        create: [...pair('other')],
        end: { a: refusedAtOnce(1, 'persistentvolumeclaim "v1" not found') },
        tries: 0,
      },
      { create: [...pair('v1')], end: { a: 'n1' } },
    ],
  },
  {
    name: 'VolumeBinding: a claim that is to be bound at once has to be bound first',
    nodes: [node('n1')],
    steps: [
      {
        create: [claim('v1'), using('a', 'v1')],
        end: { a: refusedAtOnce(1, 'pod has unbound immediate PersistentVolumeClaims') },
      },
      {
        create: [volume('v1', { claim: 'v1' })],
        patch: [completed('v1', 'v1'), bound('v1')],
        end: { a: 'n1' },
      },
    ],
  },
  {
    name: 'VolumeBinding: a claim whose volume is lost is of no use',
    nodes: [node('n1')],
    steps: [
      {
        create: [claim('v1', { volumeName: 'v1', phase: 'Lost' }), using('a', 'v1')],
        end: {
          a: refusedAtOnce(1, 'persistentvolumeclaim "v1" bound to non-existent persistentvolume "v1"'),
        },
      },
    ],
  },
  {
    name: 'VolumeBinding: a bound claim whose volume is not there keeps the pod from all nodes',
    nodes: [node('n1')],
    steps: [
      {
        create: [claim('v1', { volumeName: 'v1' }), using('a', 'v1')],
        end: {
          a: refusedAtOnce(1, 'persistentvolume "v1" not found'),
        },
      },
    ],
  },
  {
    name: 'VolumeBinding: a local volume is used where it is',
    nodes: [node('n1', { cpu: '8', memory: '16Gi' }), node('n2')],
    steps: [{ create: [...pair('v1', { nodeName: 'n2' }), using('a', 'v1')], end: { a: 'n2' } }],
  },
  {
    name: 'VolumeBinding: a local volume whose node is full keeps the pod waiting',
    nodes: [node('n1'), node('n2', { unschedulable: true })],
    steps: [
      {
        create: [...pair('v1', { nodeName: 'n2' }), using('a', 'v1')],
        end: { a: refused(2, `1 ${farAway}, 1 node(s) were unschedulable`) },
      },
    ],
  },
  {
    name: 'VolumeBinding: a claim that waits for its pod gets a volume on the pod’s node',
    nodes: [node('n1', { cpu: '8', memory: '16Gi' }), node('n2')],
    steps: [
      {
        create: [
          storageClass('local'),
          volume('v1', { className: 'local', nodeName: 'n2' }),
          claim('v1', { className: 'local' }),
          using('a', 'v1'),
        ],
        end: { a: 'waiting -> n2' },
      },
      { patch: [completed('v1', 'v1'), bound('v1')], end: { a: 'n2' } },
    ],
  },
  {
    name: 'VolumeBinding: without a volume and without a provisioner there is no node',
    nodes: [node('n1')],
    steps: [
      {
        create: [storageClass('local'), claim('v1', { className: 'local' }), using('a', 'v1')],
        end: { a: refused(1, `1 ${noVolume}`) },
      },
      {
        create: [volume('v1', { className: 'local', nodeName: 'n1' })],
        end: { a: `${refused(1, `1 ${noVolume}`)} -> n1` },
      },
      { patch: [completed('v1', 'v1'), bound('v1')], end: { a: 'n1' } },
    ],
  },
  {
    name: 'VolumeBinding: the smallest volume that is large enough is taken',
    nodes: [node('n1')],
    steps: [
      {
        create: [
          storageClass('local'),
          volume('v1', { className: 'local', size: '500Mi' }),
          volume('v2', { className: 'local', size: '5Gi' }),
          volume('v3', { className: 'local', size: '2Gi' }),
          claim('c1', { className: 'local' }),
          using('a', 'c1'),
        ],
        end: { a: 'waiting -> n1' },
      },
      {
        create: [claim('c2', { className: 'local', size: '3Gi' }), using('b', 'c2')],
        end: { b: 'waiting -> n1' },
      },
      {
        patch: [completed('c1', 'v3'), bound('c1'), completed('c2', 'v2'), bound('c2')],
        end: { a: 'n1', b: 'n1' },
      },
    ],
  },
  {
    name: 'VolumeBinding: a provisioner gets the selected node, and the pod waits for it',
    nodes: [node('n1')],
    steps: [
      {
        create: [
          storageClass('made', { provisioner: driver }),
          claim('v1', { className: 'made' }),
          using('a', 'v1'),
        ],
        end: { a: 'waiting -> n1' },
      },
      {
        create: [volume('made-1', { className: 'made', claim: 'v1' })],
        patch: [completed('v1', 'made-1'), bound('v1')],
        end: { a: 'n1' },
      },
    ],
  },
  {
    name: 'VolumeBinding: a pod that waits for its volume is called back for a more important one, and stays',
    nodes: [node('n1', { cpu: '1' })],
    steps: [
      {
        create: [
          storageClass('made', { provisioner: driver }),
          claim('v1', { className: 'made' }),
          using('a', 'v1'),
        ],
        end: { a: 'waiting -> n1' },
      },
      {
        create: [pod('b', { priorityClassName: 'high' })],
        end: { a: refused(1, '1 Insufficient cpu', noVictims(1, 1)), b: 'n1' },
      },
    ],
  },
  {
    name: 'VolumeBinding: a provisioner works only where its topologies allow',
    nodes: [zoned('n1', 'a', { cpu: '8', memory: '16Gi' }), zoned('n2', 'b')],
    steps: [
      {
        create: [
          storageClass('made', {
            provisioner: driver,
            allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ['b'] }] }],
          }),
          claim('v1', { className: 'made' }),
          using('a', 'v1'),
        ],
        end: { a: 'waiting -> n2' },
      },
      {
        create: [volume('made-1', { className: 'made', claim: 'v1' })],
        patch: [completed('v1', 'made-1'), bound('v1')],
        end: { a: 'n2' },
      },
    ],
  },
  {
    name: 'VolumeBinding: a class that is not there is waited for',
    nodes: [node('n1')],
    steps: [
      {
        create: [claim('v1', { className: 'late' }), using('a', 'v1')],
        end: { a: refusedAtOnce(1, 'pod has unbound immediate PersistentVolumeClaims') },
      },
    ],
  },
  {
    name: 'VolumeBinding: an ephemeral volume waits for its claim',
    nodes: [node('n1')],
    steps: [
      {
        create: [
          disk('a', {
            ephemeral: {
              volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: storage } },
            },
          }),
        ],
        end: {
          a: refusedAtOnce(
            1,
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "a-v"',
          ),
        },
      },
    ],
  },
]
