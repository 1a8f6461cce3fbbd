import type { JsonObject } from '@coxswain/apimachinery/json'
import { newForbidden, newNotFound, StatusError } from '@coxswain/apimachinery/status'
import type { AdmissionPlugin } from './admission.ts'

const immortal = new Set(['default', 'kube-system', 'kube-public'])

/** Rejects creates in a namespace that does not exist or is terminating, and deletion of the system namespaces. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  needs: 'namespaces',
  mutate({ operation, resource, namespace, name, object, server }) {
    const { info } = resource
    if (operation === 'DELETE' && info.group === '' && info.resource === 'namespaces' && immortal.has(name)) {
      throw newForbidden(info, name, 'this namespace may not be deleted')
    }
    if (operation !== 'CREATE' || !info.namespaced) return
    if (info.resource === 'localsubjectaccessreviews') return // asks about a namespace without being in it
    const found = server.cache.resource('/core/namespaces/').get(`/core/namespaces/${namespace}`)
    if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace)
    const status = found.peek().status as JsonObject | undefined
    if (status?.phase !== 'Terminating') return
    const objectName = ((object?.metadata ?? {}) as { name?: string }).name ?? ''
    const refusal = newForbidden(
      info,
      objectName,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    )
    const cause = {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    }
    throw new StatusError({ ...refusal.status, details: { ...refusal.status.details, causes: [cause] } })
  },
}
