/** In-tree volumes as seen by the CSI drivers that replace them. */

import type { CSINode } from '@coxswain/api/storage/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { VolumeView } from './pod-claims.ts'

export interface CsiVolume {
  readonly driver: string
  readonly volumeHandle: string
}

type InlineVolume = NonNullable<PodView['spec']['volumes']>[number]
type Source = InlineVolume | NonNullable<VolumeView['spec']>
type Affinity = NonNullable<NonNullable<VolumeView['spec']>['nodeAffinity']>['required']

interface Migration {
  /** The name of the in-tree plug-in. */
  readonly plugin: string
  readonly driver: string
  /** The driver's topology key for zones. */
  readonly zoneKey?: string
  /** For a source of this plug-in. `zones` are those in the volume's labels. */
  readonly handleOf: (source: Source, zones: readonly string[]) => string | undefined
}

const migrations: readonly Migration[] = [
  {
    plugin: 'kubernetes.io/aws-ebs',
    driver: 'ebs.csi.aws.com',
    zoneKey: 'topology.ebs.csi.aws.com/zone',
    handleOf: ({ awsElasticBlockStore: source }) => source && ebsId(source.volumeID),
  },
  {
    plugin: 'kubernetes.io/gce-pd',
    driver: 'pd.csi.storage.gke.io',
    zoneKey: 'topology.gke.io/zone',
    handleOf: ({ gcePersistentDisk: source }, zones) => source && gceId(source.pdName, zones),
  },
  {
    plugin: 'kubernetes.io/azure-disk',
    driver: 'disk.csi.azure.com',
    zoneKey: 'topology.disk.csi.azure.com/zone',
    handleOf: ({ azureDisk: source }) => source?.diskURI,
  },
  {
    plugin: 'kubernetes.io/cinder',
    driver: 'cinder.csi.openstack.org',
    zoneKey: 'topology.cinder.csi.openstack.org/zone',
    handleOf: ({ cinder: source }) => source?.volumeID,
  },
  {
    plugin: 'kubernetes.io/portworx-volume',
    driver: 'pxd.portworx.com',
    handleOf: ({ portworxVolume: source }) => source?.volumeID,
  },
]

const zoneLabels = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'] as const
const betaRegion = 'failure-domain.beta.kubernetes.io/region'
const region = 'topology.kubernetes.io/region'
const separator = '__'
const unspecified = 'UNSPECIFIED'

/** @throws Error in upstream's words, for an invalid volume id */
function ebsId(volumeId: string): string {
  if (!volumeId.startsWith('aws://')) return volumeId
  const [, ...path] = volumeId.slice('aws://'.length).split('/')
  const id = path.join('/').replace(/^\/+|\/+$/g, '')
  if (/^vol-[^/]*$/.test(id)) return id
  throw new Error(
    `failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${volumeId})`,
  )
}

function gceId(disk: string, zones: readonly string[]): string | undefined {
  if (zones.length < 2) return `projects/${unspecified}/zones/${zones[0] || unspecified}/disks/${disk}`
  const parts = zones.map(zone => zone.split('-'))
  const regions = new Set(parts.map(([place, name]) => `${place}-${name}`))
  if (regions.size !== 1 || parts.some(({ length }) => length !== 3)) return undefined
  return `projects/${unspecified}/regions/${[...regions][0]}/disks/${disk}`
}

/** For an inline volume of a pod; undefined if it is not migrated. */
export function translateInline(volume: InlineVolume): CsiVolume | undefined {
  for (const { driver, handleOf } of migrations)
    try {
      const volumeHandle = handleOf(volume, [])
      if (volumeHandle !== undefined) return { driver, volumeHandle }
    } catch (error) {
      const message = `converting volume(${volume.name}) from inline to csi: ${(error as Error).message}`
      throw new Error(message, { cause: error })
    }
  return undefined
}

/** Whether an inline volume of a pod is migrated to CSI. */
export function isMigrated(volume: InlineVolume): boolean {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, cinder, portworxVolume } = volume
  return Boolean(awsElasticBlockStore ?? gcePersistentDisk ?? azureDisk ?? cinder ?? portworxVolume)
}

/** For a persistent volume, CSI or migrated; undefined if it is neither, or its id is invalid. */
export function csiOf({ metadata, spec }: VolumeView): CsiVolume | undefined {
  if (!spec || spec.csi) return spec?.csi
  const label = metadata.labels?.[zoneLabels[1]] || metadata.labels?.[zoneLabels[0]] || ''
  for (const { driver, handleOf } of migrations)
    try {
      const volumeHandle = handleOf(spec, label.split(separator))
      if (volumeHandle !== undefined) return { driver, volumeHandle }
    } catch {
      return undefined
    }
  return undefined
}

/** The CSI driver for a provisioner. */
export function driverOf(provisioner: string): string {
  return migrations.find(({ plugin }) => plugin === provisioner)?.driver ?? provisioner
}

/** The node affinity of a volume, in terms of the CSI driver that it is migrated to on the node. */
export function affinityOf(volume: VolumeView, csiNode: DeepReadonly<CSINode> | undefined): Affinity {
  const required = volume.spec?.nodeAffinity?.required
  const migrated = csiNode?.metadata.annotations?.['storage.alpha.kubernetes.io/migrated-plugins']
  if (!migrated || !volume.spec || volume.spec.csi) return required
  const driver = csiOf(volume)?.driver
  const found = migrations.find(each => each.driver === driver && migrated.split(',').includes(each.plugin))
  return found?.zoneKey === undefined ? required : translateAffinity(volume, required, found.zoneKey)
}

/** Renames zone keys to the driver's; without any, adds the zones of the labels. */
function translateAffinity({ metadata }: VolumeView, required: Affinity, zoneKey: string): Affinity {
  const terms = required?.nodeSelectorTerms ?? []
  const isUsed = (key: string) =>
    terms.some(({ matchExpressions = [] }) => matchExpressions.some(expression => expression.key === key))
  const labels = metadata.labels ?? {}
  const label = zoneLabels.find(isUsed) ?? zoneLabels.find(key => labels[key] !== undefined) ?? zoneLabels[0]
  const rename = (key: string) => {
    if (key === label) return zoneKey
    return key === betaRegion && label === zoneLabels[1] ? region : key
  }
  const renamed = terms.map(term => ({
    ...term,
    matchExpressions: (term.matchExpressions ?? []).map(each => ({ ...each, key: rename(each.key) })),
  }))
  if (isUsed(label) || labels[label] === undefined) return required && { nodeSelectorTerms: renamed }
  const zones = labels[label].split(separator).map(zone => zone.trim())
  const values = [...new Set(zones.filter(zone => zone !== ''))].sort()
  if (values.length === 0) return required && { nodeSelectorTerms: renamed }
  const added = { key: zoneKey, operator: 'In' as const, values }
  return {
    nodeSelectorTerms: (renamed.length === 0 ? [{ matchExpressions: [] }] : renamed).map(term => ({
      ...term,
      matchExpressions: [...term.matchExpressions, added],
    })),
  }
}
