/** Adds the containers and volumes of a ConfigMap to every Pod of the namespaces that ask for it. */
import { ConfigMap, Pod } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { applyStrategicMergePatch, defineOperator, type Incoming, newInternalError } from 'coxswain'

/** Namespaces with this label get sidecars. */
export const namespaceLabel = { 'sidecar.example.com/inject': 'enabled' }
/** What Pods are marked with that have theirs. */
export const annotation = 'sidecar.example.com/injected'
/** What is added: `data.config` is YAML with `containers`, `initContainers` and `volumes`, as in a Pod. */
export const configKey = { namespace: 'sidecar', name: 'sidecar' }

const allowed = new Set(['containers', 'initContainers', 'volumes'])

export default defineOperator('sidecar', operator => {
  operator.webhook(Pod).default(
    async (pod, { client, warn }) => {
      if (pod.metadata.annotations?.[annotation] !== undefined) return
      const config = await client.get(ConfigMap, configKey)
      if (!config) {
        warn(`no sidecar was added: there is no ConfigMap ${configKey.namespace}/${configKey.name}`)
        return
      }
      const patch = {
        metadata: { annotations: { [annotation]: config.metadata.resourceVersion } },
        spec: readParts(config.data?.config ?? ''),
      }
      // Lists of containers and volumes are merged by name: what the Pod has stays.
      return applyStrategicMergePatch({ ...pod }, patch, Pod.schema()) as unknown as Incoming<Pod>
    },
    {
      operations: ['CREATE'],
      namespaceSelector: { matchLabels: namespaceLabel },
      reinvocationPolicy: 'IfNeeded',
    },
  )
  // Watched from the beginning, so that the first Pod does not wait for it.
  operator
    .controller('config')
    .for(ConfigMap)
    .reconcile(() => {})
  operator.cache(ConfigMap, {
    namespaces: [configKey.namespace],
    fieldSelector: `metadata.name=${configKey.name}`,
  })
})

/** @throws StatusError with what is wrong: a Pod without its sidecar is not to start */
function readParts(text: string): Record<string, unknown> {
  const fail = (problem: string) =>
    newInternalError(`ConfigMap ${configKey.namespace}/${configKey.name}: config ${problem}`)
  let parts: unknown
  try {
    parts = readYaml(new TextEncoder().encode(text))?.value
  } catch (error) {
    throw fail(`is not YAML: ${(error as Error).message}`)
  }
  if (typeof parts !== 'object' || parts === null || Array.isArray(parts)) throw fail('has no containers')
  const unknown = Object.keys(parts).filter(key => !allowed.has(key))
  if (unknown.length > 0) throw fail(`has ${unknown.join(', ')}, which is nothing to add`)
  return parts as Record<string, unknown>
}
