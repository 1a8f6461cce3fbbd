import { Pod } from '@coxswain/api/core/v1'
import type { SchedulerPlugin } from '../plugin.ts'

/** Creates the Binding of the pod. */
export const defaultBinder: SchedulerPlugin = {
  name: 'DefaultBinder',
  bind: async ({ pod: { pod }, handle }, node) => {
    const { name, namespace = '', uid } = pod.metadata
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node.name },
    }
    await handle.client.subresource(Pod, { name, namespace }, 'binding').create(binding)
    return true
  },
}
