import type { JsonObject } from '@coxswain/apimachinery/json'
import type { AdmissionPlugin } from './admission.ts'

const finalizers: Readonly<Record<string, string>> = {
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
}

/** Protects volumes and claims in use with a finalizer, which their controller removes. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  needs: 'persistentvolumeclaims',
  mutate({ operation, resource, subresource, object }) {
    const finalizer = finalizers[`${resource.info.group}/${resource.info.resource}`]
    if (operation !== 'CREATE' || subresource !== '' || finalizer === undefined || !object) return
    const metadata = object.metadata as JsonObject & { finalizers?: string[] }
    if (metadata.finalizers?.includes(finalizer)) return
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer]
  },
}
