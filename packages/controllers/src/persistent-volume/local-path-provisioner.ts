import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { formatKey, type ObjectKey } from '@coxswain/apimachinery/meta'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { classNameOf, provisionedBy, requestOf, selectedNode, storageProvisioner } from './volumes.ts'

/** The provisioner that storage classes name. */
export const localPathProvisioner = 'coxswain.dev/local-path'

/** Options of {@link createLocalPathProvisioner}. */
export interface LocalPathOptions {
  /** The directory that contains the volumes. @default /var/lib/coxswain/local-path */
  readonly root?: string
  /** Removes a volume's directory before the volume is deleted. @default keeps it */
  readonly remove?: (path: string) => Promise<void>
}

/** Provisions volumes that are directories of the node, and deletes them. */
export function createLocalPathProvisioner(options: LocalPathOptions = {}): Operator {
  const { root = '/var/lib/coxswain/local-path', remove } = options
  return defineOperator('local-path-provisioner', operator => {
    operator
      .controller('local-path-provisioner')
      .for(PersistentVolumeClaim)
      .watches(StorageClass, () => [])
      .options({ eventSource: localPathProvisioner })
      .reconcile(context => provision(context, root))
    operator
      .controller('local-path-deleter')
      .for(PersistentVolume)
      .options({ eventSource: localPathProvisioner })
      .reconcile(context => deleteReleased(context, root, remove))
  })
}

const pathOf = (root: string, volume: string, { namespace = '', name }: ObjectKey) =>
  `${root}/${volume}_${namespace}_${name}`

async function provision({ client, key, events }: ReconcileContext, root: string): Promise<void> {
  const claim = await client.get(PersistentVolumeClaim, key)
  if (!claim || claim.metadata.deletionTimestamp || claim.spec?.volumeName) return
  const { annotations = {}, namespace = '', name, uid } = claim.metadata
  if (annotations[storageProvisioner] !== localPathProvisioner) return
  const storageClass = await client.get(StorageClass, { name: classNameOf(claim) })
  if (storageClass?.provisioner !== localPathProvisioner) return
  const node = annotations[selectedNode]
  if (storageClass.volumeBindingMode === 'WaitForFirstConsumer' && node === undefined) return
  const volume = `pvc-${uid}`
  if (await client.get(PersistentVolume, { name: volume })) return
  const message = `External provisioner is provisioning volume for claim "${formatKey(key)}"`
  events.normal(claim, 'Provisioning', message)
  const { accessModes, volumeMode } = claim.spec ?? {}
  const hostname = { key: 'kubernetes.io/hostname', operator: 'In' as const, values: [node ?? ''] }
  try {
    await client.create(PersistentVolume, {
      metadata: { name: volume, annotations: { [provisionedBy]: localPathProvisioner } },
      spec: {
        capacity: { storage: requestOf(claim).toString() },
        ...(accessModes && { accessModes }),
        ...(volumeMode && { volumeMode }),
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
        storageClassName: storageClass.metadata.name,
        hostPath: { path: pathOf(root, volume, { namespace, name }), type: 'DirectoryOrCreate' },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
        ...(node !== undefined && {
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
        }),
      },
    })
    events.normal(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${volume}`)
  } catch (error) {
    if (isAlreadyExists(error)) return
    const { name: className } = storageClass.metadata
    const text = `failed to provision volume with StorageClass "${className}": ${(error as Error).message}`
    events.warning(claim, 'ProvisioningFailed', text)
    throw error
  }
}

async function deleteReleased(
  { client, key, events }: ReconcileContext,
  root: string,
  remove: LocalPathOptions['remove'],
): Promise<void> {
  const volume = await client.get(PersistentVolume, key)
  if (!volume || volume.metadata.deletionTimestamp || volume.status?.phase !== 'Released') return
  if (volume.metadata.annotations?.[provisionedBy] !== localPathProvisioner) return
  if (volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return
  const { hostPath, claimRef } = volume.spec
  // Users can write volumes: only a directory that was provisioned for this one is removed.
  const { namespace = '', name = '' } = claimRef ?? {}
  const path = pathOf(root, volume.metadata.name, { namespace, name })
  const isOwn = hostPath?.path === path && !path.slice(root.length + 1).includes('/')
  try {
    if (remove && isOwn) await remove(path)
    await client.delete(PersistentVolume, key, { preconditions: { uid: volume.metadata.uid } })
  } catch (error) {
    if (isNotFound(error)) return
    events.warning(volume, 'VolumeFailedDelete', (error as Error).message)
    throw error
  }
}
