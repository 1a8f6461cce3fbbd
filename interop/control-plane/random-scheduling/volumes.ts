import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { CSINode, CSIStorageCapacity, StorageClass } from '@coxswain/api/storage/v1'
import { type Given, hostname, zone } from '../../../packages/testing/src/test-support/scheduling/scenario.ts'
import type { Draw } from '../comparison/random/draw.ts'
import { disks, maybe, zones } from './nodes.ts'

const driver = 'disk.example.com'
const modes = ['ReadWriteOnce', 'ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod'] as const
const sizes = ['1Gi', '2Gi', '5Gi'] as const

/** Volumes, claims and classes. Names begin with `prefix`: most of them are cluster-scoped. */
export interface Storage {
  readonly objects: readonly Given[]
  /** Claims that pods may use, some of which do not exist. */
  readonly claims: readonly string[]
}

export function drawStorage(draw: Draw, prefix: string, nodeNames: readonly string[]): Storage {
  const objects: Given[] = []
  const claims: string[] = []
  const className = { late: `${prefix}late`, now: `${prefix}now`, none: `${prefix}none` }
  const topologies = maybe(draw, 0.4, () => [
    { matchLabelExpressions: [{ key: zone, values: [draw.pick(zones)] }] },
  ])
  objects.push(
    storageClass(className.late, 'WaitForFirstConsumer', {
      provisioner: driver,
      allowedTopologies: topologies,
    }),
    storageClass(className.now, 'Immediate', { provisioner: driver }),
    storageClass(className.none, 'WaitForFirstConsumer', { provisioner: 'kubernetes.io/no-provisioner' }),
  )
  const mode = () => draw.pick(modes)
  for (let index = draw.below(4); index > 0; index--) {
    const name = `${prefix}bound${index}`
    const accessModes = [mode()]
    const shape = { size: draw.pick(sizes), accessModes, affinity: drawVolumeAffinity(draw, nodeNames) }
    objects.push(
      volume(name, { ...shape, className: className.now, claim: name, labels: drawZoneLabels(draw) }),
      claim(name, { ...shape, className: className.now, volumeName: name }),
    )
    claims.push(name)
  }
  for (let index = draw.below(4); index > 0; index--) {
    const affinity = drawVolumeAffinity(draw, nodeNames)
    // Of volumes of one size chance takes one.
    const shape = { size: `${1_024 * (draw.below(5) + 1) + index}Mi`, accessModes: [mode()], affinity }
    objects.push(volume(`${prefix}free${index}`, { ...shape, className: className.none, labels: {} }))
  }
  for (let index = draw.below(4); index > 0; index--) {
    const name = `${prefix}claim${index}`
    const chosen = draw.pick([className.late, className.none, className.none, className.now])
    objects.push(claim(name, { size: draw.pick(sizes), accessModes: [mode()], className: chosen }))
    claims.push(name)
  }
  if (draw.chance(0.1)) claims.push(`${prefix}missing`)
  for (const name of nodeNames)
    if (draw.chance(0.4))
      objects.push([
        CSINode,
        {
          metadata: { name },
          spec: {
            drivers: [
              { name: driver, nodeID: name, topologyKeys: [], allocatable: { count: draw.below(3) } },
            ],
          },
        },
      ])
  if (draw.chance(0.2)) objects.push(capacity(draw, prefix, className.late))
  return { objects, claims }
}

function storageClass(name: string, volumeBindingMode: string, more: object): Given {
  const defined = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined))
  return [StorageClass, { metadata: { name }, volumeBindingMode, ...defined }]
}

function capacity(draw: Draw, prefix: string, storageClassName: string): Given {
  return [
    CSIStorageCapacity,
    {
      metadata: { name: `${prefix}capacity`, namespace: 'default' },
      storageClassName,
      capacity: draw.pick(sizes),
      nodeTopology: { matchLabels: { [zone]: draw.pick(zones) } },
    },
  ]
}

const drawZoneLabels = (draw: Draw) =>
  draw.chance(0.3)
    ? { [zone]: draw.chance(0.3) ? `${draw.pick(zones)}__${draw.pick(zones)}` : draw.pick(zones) }
    : {}

function drawVolumeAffinity(draw: Draw, nodeNames: readonly string[]): object | undefined {
  if (draw.chance(0.4)) return undefined
  const expression = draw.pick([
    { key: hostname, operator: 'In', values: [draw.pick(nodeNames), draw.pick(nodeNames)] },
    { key: zone, operator: 'In', values: [draw.pick(zones)] },
    { key: 'disk', operator: 'NotIn', values: [draw.pick(disks)] },
  ])
  return { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } }
}

interface Shape {
  readonly size: string
  readonly accessModes: readonly string[]
  readonly className: string
}

function volume(
  name: string,
  shape: Shape & { affinity: object | undefined; labels: object; claim?: string },
): Given {
  const { size, accessModes, className, affinity, labels, claim: claimName } = shape
  return [
    PersistentVolume,
    {
      metadata: { name, labels },
      spec: {
        capacity: { storage: size },
        accessModes,
        storageClassName: className,
        csi: { driver, volumeHandle: name },
        ...(claimName && { claimRef: { namespace: 'default', name: claimName } }),
        ...(affinity && { nodeAffinity: affinity }),
      },
      status: { phase: claimName ? 'Bound' : 'Available' },
    },
  ]
}

function claim(
  name: string,
  { size, accessModes, className, volumeName }: Shape & { volumeName?: string },
): Given {
  return [
    PersistentVolumeClaim,
    {
      metadata: {
        name,
        namespace: 'default',
        annotations: volumeName ? { 'pv.kubernetes.io/bind-completed': 'yes' } : {},
      },
      spec: {
        accessModes,
        resources: { requests: { storage: size } },
        storageClassName: className,
        ...(volumeName && { volumeName }),
      },
      status: { phase: volumeName ? 'Bound' : 'Pending' },
    },
  ]
}
