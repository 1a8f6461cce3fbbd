import { createDiscovery } from '@coxswain/client'
import type { Cluster } from '@coxswain/testing'
import type { ManifestObject } from './manifest-object.ts'

/** Deletes the objects of manifests; those that do not exist are left alone. */
export async function deleteObjects(cluster: Cluster, objects: readonly ManifestObject[]): Promise<void> {
  const discovery = createDiscovery(cluster.client)
  for (const { apiVersion, kind, metadata } of objects) {
    const found = await discovery.kindOf(apiVersion, kind)
    const { name, namespace = 'default' } = metadata
    await cluster.client.delete(found, found.namespaced ? { namespace, name } : { name })
  }
}
