import { encodeStored } from './cache/stored-object.ts'
import { formatTime } from './handlers/lifecycle.ts'
import type { JsonObject } from './json.ts'
import type { ServerState } from './request/context.ts'

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Creates what every cluster has from the start. What is there already stays as it is. */
export async function createBootstrapObjects(state: ServerState): Promise<void> {
  const { clock, random } = state.env
  for (const name of namespaces) {
    const key = `/core/namespaces/${name}`
    if (state.cache.resource('/core/namespaces/').get(key)) continue
    const namespace: JsonObject = {
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
    const result = await state.store.transact({
      conditions: [{ key, modRevision: 0 }],
      operations: [{ type: 'put', key, value: encodeStored(namespace) }],
    })
    await state.cache.waitFor(result.revision)
  }
}
