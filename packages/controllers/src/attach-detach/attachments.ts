import { PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { VolumeAttachment } from '@coxswain/api/storage/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isPodTerminal, type PodView } from '@coxswain/kinds'
import { encodeHex, encodeText, sha256 } from '@coxswain/kit'
import type { OperatorClient } from '@coxswain/runtime'
import { listPodsWith, type VolumeView } from '../persistent-volume/volumes.ts'

export type AttachmentView = DeepReadonly<VolumeAttachment>
type ContainerStatuses = NonNullable<PodView['status']>['containerStatuses']

/** A volume that a CSI driver attaches. */
export interface AttachableVolume {
  readonly volume: VolumeView
  readonly driver: string
  readonly handle: string
  /** Its name in node status. */
  readonly uniqueName: string
}

export function asAttachable(volume: VolumeView): AttachableVolume | undefined {
  const { csi } = volume.spec ?? {}
  if (!csi) return undefined
  const { driver, volumeHandle: handle } = csi
  return { volume, driver, handle, uniqueName: `kubernetes.io/csi/${driver}^${handle}` }
}

/** Deterministic per volume and node, so that it is never created twice. */
export function attachmentName({ handle, driver }: AttachableVolume, node: string): string {
  const hash = sha256(encodeText(`${handle}${driver}${node}`))
  return `csi-${encodeHex(hash)}`
}

/** Whether several nodes may attach it at once; without access modes the driver decides. */
export function mayBeShared({ spec }: VolumeView): boolean {
  const modes: readonly string[] = spec?.accessModes ?? []
  return modes.length === 0 || modes.includes('ReadWriteMany') || modes.includes('ReadOnlyMany')
}

/** Whether all containers of a pod have stopped, so that its volumes may be detached. */
export function isTerminated(pod: PodView): boolean {
  if (isPodTerminal(pod)) return true
  const { metadata, status = {} } = pod
  const isIdle = (statuses: ContainerStatuses = []) =>
    statuses.every(({ state }) => state?.terminated !== undefined || state?.waiting !== undefined)
  return (
    metadata.deletionTimestamp !== undefined &&
    isIdle(status.initContainerStatuses) &&
    isIdle(status.containerStatuses) &&
    isIdle(status.ephemeralContainerStatuses)
  )
}

/** The pods that use a volume, by node. */
export async function podsByNode(
  client: OperatorClient,
  volume: VolumeView,
): Promise<Map<string, PodView[]>> {
  const found = new Map<string, PodView[]>()
  const { namespace = '', name = '', uid } = volume.spec?.claimRef ?? {}
  const claim = name === '' ? undefined : await client.get(PersistentVolumeClaim, { namespace, name })
  const isBound = claim?.status?.phase === 'Bound' && claim.spec?.volumeName === volume.metadata.name
  if (!claim || !isBound || claim.metadata.uid !== uid) return found
  for (const pod of await listPodsWith(client, claim)) {
    const { nodeName } = pod.spec
    if (!nodeName || isTerminated(pod)) continue
    found.set(nodeName, [...(found.get(nodeName) ?? []), pod])
  }
  return found
}
