import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import { bootstrapApiServices, bootstrapFlowControl, systemPriorityClasses } from '@coxswain/strategies'
import { encodeStored } from '../cache/stored-object.ts'
import { nameOf } from '../registry/convert.ts'
import type { ServerState } from '../request/context.ts'
import { createKubernetesService } from './kubernetes-service.ts'
import { reconcileBootstrapPolicy } from './rbac-bootstrap.ts'

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Since when Secrets say when the token in them was used last: who cleans old tokens up reads it. */
const tokenTracking = 'kube-apiserver-legacy-service-account-token-tracking'

/** Creates what every cluster has from the start. What is there already stays as it is. */
export async function createBootstrapObjects(state: ServerState): Promise<void> {
  for (const name of namespaces) {
    await createMissing(state, '/core/namespaces/', name, metadata => ({
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { ...metadata, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }))
  }
  for (const { name, value, description } of systemPriorityClasses) {
    await createMissing(state, '/scheduling.k8s.io/priorityclasses/', name, metadata => ({
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { ...metadata, generation: 1 },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    }))
  }
  await createMissing(state, '/core/configmaps/', `kube-system/${tokenTracking}`, metadata => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { ...metadata, name: tokenTracking, namespace: 'kube-system' },
    data: { since: formatTime(state.env.clock.now()).slice(0, 10) },
  }))
  await createKubernetesService(state)
  const flowControl = bootstrapFlowControl().map(object =>
    createMissing(state, flowControlPrefixes[String(object.kind)]!, nameOf(object).name, metadata => ({
      ...object,
      metadata: { ...metadata, generation: 1, ...(object.metadata as JsonObject) },
    })),
  )
  const apiServices = bootstrapApiServices(state.env.clock.now()).map(object =>
    createMissing(state, '/apiregistration.k8s.io/apiservices/', nameOf(object).name, metadata => ({
      ...object,
      metadata: { ...metadata, ...(object.metadata as JsonObject) },
    })),
  )
  await Promise.all([...flowControl, ...apiServices, reconcileBootstrapPolicy(state)])
}

const flowControlPrefixes: Readonly<Record<string, string>> = {
  FlowSchema: '/flowcontrol.apiserver.k8s.io/flowschemas/',
  PriorityLevelConfiguration: '/flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/',
}

async function createMissing(
  state: ServerState,
  prefix: string,
  name: string,
  make: (metadata: JsonObject) => JsonObject,
): Promise<void> {
  const { clock, random } = state.env
  const key = prefix + name
  if (state.cache.resource(prefix).get(key)) return
  const object = make({ name, uid: random.uuid(), creationTimestamp: formatTime(clock.now()) })
  const result = await state.store.transact({
    conditions: [{ key, modRevision: 0 }],
    operations: [{ type: 'put', key, value: encodeStored(object) }],
  })
  await state.cache.waitFor(result.revision)
}
