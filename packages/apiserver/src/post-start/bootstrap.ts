import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import { bootstrapFlowControl, systemPriorityClasses } from '@coxswain/strategies'
import { nameOf } from '../registry/convert.ts'
import { createMissing } from '../write/create-missing.ts'
import { createKubernetesService, type NetworkPorts } from './kubernetes-service.ts'
import { reconcileBootstrapPolicy } from './rbac-bootstrap.ts'

const namespaces = ['default', 'kube-system', 'kube-public']

/** Since when Secrets record the last use of their token: the legacy token cleaner reads it. */
const tokenTracking = 'kube-apiserver-legacy-service-account-token-tracking'

export interface BootstrapPorts extends NetworkPorts {
  /** Whether a built-in resource is served, by its name with its group. */
  readonly serves: (resource: string) => boolean
  /** Whether `metrics.k8s.io` is served. */
  readonly hasResourceMetrics: boolean
}

/** metrics-server's role: users who may view a namespace may read the usage of its Pods. */
const metricsReader = 'system:aggregated-metrics-reader'
const aggregateTo = 'rbac.authorization.k8s.io/aggregate-to-'

/** Creates the objects that every cluster has from the start; those of flow control where no kinds are served. Existing ones are not changed. */
export async function createBootstrapObjects(ports: BootstrapPorts): Promise<void> {
  const { serves } = ports
  if (!serves('namespaces')) {
    await createFlowControl(ports)
    return
  }
  for (const name of serves('nodes') ? [...namespaces, 'kube-node-lease'] : namespaces) {
    await createMissing(ports, '/core/namespaces/', name, metadata => ({
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { ...metadata, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }))
  }
  const priorityClasses = serves('priorityclasses.scheduling.k8s.io') ? systemPriorityClasses : []
  for (const { name, value, description } of priorityClasses) {
    await createMissing(ports, '/scheduling.k8s.io/priorityclasses/', name, metadata => ({
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { ...metadata, generation: 1 },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    }))
  }
  await createMissing(ports, '/core/configmaps/', `kube-system/${tokenTracking}`, metadata => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { ...metadata, name: tokenTracking, namespace: 'kube-system' },
    data: { since: formatTime(ports.env.clock.now()).slice(0, 10) },
  }))
  if (serves('services')) await createKubernetesService(ports)
  if (ports.hasResourceMetrics)
    await createMissing(ports, '/rbac.authorization.k8s.io/clusterroles/', metricsReader, metadata => ({
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: {
        ...metadata,
        labels: Object.fromEntries(['admin', 'edit', 'view'].map(role => [aggregateTo + role, 'true'])),
      },
      rules: [
        { apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
      ],
    }))
  await Promise.all([createFlowControl(ports), reconcileBootstrapPolicy(ports, serves)])
}

async function createFlowControl(ports: BootstrapPorts): Promise<void> {
  const made = bootstrapFlowControl(ports.serves).map(object =>
    createMissing(ports, flowControlPrefixes[String(object.kind)]!, nameOf(object).name, metadata => ({
      ...object,
      metadata: { ...metadata, generation: 1, ...(object.metadata as JsonObject) },
    })),
  )
  await Promise.all(made)
}

const flowControlPrefixes: Readonly<Record<string, string>> = {
  FlowSchema: '/flowcontrol.apiserver.k8s.io/flowschemas/',
  PriorityLevelConfiguration: '/flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/',
}
