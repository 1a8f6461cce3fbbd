import { StorageClass } from '@coxswain/api/storage/v1'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import type { Client } from '@coxswain/client'
import { localPathProvisioner } from './local-path-provisioner.ts'

/** The class of claims without one, unless there are classes already: directories of this machine. */
export async function ensureDefaultStorageClass(client: Client): Promise<void> {
  const { items } = await client.list(StorageClass, { limit: 1 })
  if (items.length > 0) return
  try {
    await client.create(StorageClass, {
      metadata: {
        name: 'standard',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: localPathProvisioner,
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
