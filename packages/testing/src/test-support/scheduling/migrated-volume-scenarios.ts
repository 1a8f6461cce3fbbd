import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { CSINode } from '@coxswain/api/storage/v1'
import { type Given, node, noVictims, pod, refused, type Scenario, zone } from './scenario.ts'

const driver = 'ebs.csi.aws.com'
const tooMany = 'node(s) exceed max volume count'
const farAway = "node(s) didn't match PersistentVolume's node affinity"

const limit = (name: string, count: number): Given => [
  CSINode,
  {
    metadata: {
      name,
      annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs' },
    },
    spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: [], allocatable: { count } }] },
  },
]

const disk = (name: string, volumeID: string): Given =>
  pod(name, { volumes: [{ name: 'v', awsElasticBlockStore: { volumeID } }] })

/** A volume that is bound, and its claim. */
const pair = (name: string, volumeID: string, labels: object = {}): Given[] => [
  [
    PersistentVolume,
    {
      metadata: { name, labels },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        awsElasticBlockStore: { volumeID },
        claimRef: { namespace: 'default', name },
      },
      status: { phase: 'Bound' },
    },
  ],
  [
    PersistentVolumeClaim,
    {
      metadata: { name, namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: '',
        volumeName: name,
      },
      status: { phase: 'Bound' },
    },
  ],
]
const using = (name: string, claimName: string): Given =>
  pod(name, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })

/** Volumes of plug-ins that CSI drivers have taken over. */
export const migratedVolumes: readonly Scenario[] = [
  {
    name: 'NodeVolumeLimits: disks of a pod count for the driver that has taken them over',
    nodes: [node('n1'), limit('n1', 1)],
    steps: [
      { create: [disk('a', 'vol-1')], end: { a: 'n1' } },
      { create: [disk('b', 'aws://z/vol-2')], end: { b: refused(1, `1 ${tooMany}`, noVictims(1, 1)) } },
    ],
  },
  {
    name: 'NodeVolumeLimits: a claimed disk is the same as one that another pod names itself',
    nodes: [node('n1'), limit('n1', 1)],
    steps: [
      { create: [...pair('v1', 'aws:///vol-1'), ...pair('v2', 'vol-2'), using('a', 'v1')], end: { a: 'n1' } },
      {
        create: [using('b', 'v2'), using('c', 'v1')],
        end: { b: refused(1, `1 ${tooMany}`, noVictims(1, 1)), c: 'n1' },
      },
    ],
  },
  {
    name: 'NodeVolumeLimits: a disk with a name that none can have is an error',
    nodes: [node('n1'), limit('n1', 1)],
    steps: [
      {
        create: [disk('a', 'aws://z/disk')],
        end: {
          a: 'running "NodeVolumeLimits" filter plugin: converting volume(v) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/disk)',
        },
      },
    ],
  },
  {
    name: 'VolumeBinding: zones of a volume are those of the driver that has taken it over',
    nodes: [node('n1', { labels: { [zone]: 'x', 'topology.ebs.csi.aws.com/zone': 'y' } }), limit('n1', 5)],
    steps: [
      {
        create: [...pair('v1', 'vol-1', { [zone]: 'x' }), using('a', 'v1')],
        end: { a: refused(1, `1 ${farAway}`) },
      },
      { create: [...pair('v2', 'vol-2'), using('b', 'v2')], end: { b: 'n1' } },
    ],
  },
]
