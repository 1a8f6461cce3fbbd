import { formatTime } from '@coxswain/apimachinery/time'
import { encodeStored } from '../cache/stored-object.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { isNamespaceResource } from './create-attributes.ts'
import { findNamespace } from './matching/selectors.ts'

function isInNamespace(attributes: Attributes): boolean {
  return attributes.namespace !== '' && !isNamespaceResource(attributes)
}

/** Creates the namespace of a new object when it does not exist. Off by default. */
export const namespaceAutoProvision: AdmissionPlugin = {
  name: 'NamespaceAutoProvision',
  needs: 'namespaces',
  async mutate(attributes) {
    const { operation, dryRun, namespace: name, server } = attributes
    if (operation !== 'CREATE' || dryRun || !isInNamespace(attributes)) return
    const key = `/core/namespaces/${name}`
    if (server.cache.resource('/core/namespaces/').get(key)) return
    const { clock, random } = server.env
    const object = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: random.uuid(),
        creationTimestamp: formatTime(clock.now()),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }
    const { revision } = await server.store.transact({
      conditions: [{ key, modRevision: 0 }],
      operations: [{ type: 'put', key, value: encodeStored(object) }],
    })
    await server.cache.waitFor(revision)
  },
}

/** Rejects requests in a namespace that does not exist. Off by default. */
export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  needs: 'namespaces',
  validate(attributes) {
    if (attributes.operation === 'CONNECT' || !isInNamespace(attributes)) return
    findNamespace(attributes.server, attributes.namespace)
  },
}
