import { customResourceDefinitionStrategy } from '../crd/strategy.ts'
import type { Strategy } from '../registry/strategy.ts'
import {
  mutatingAdmissionPolicyStrategy,
  validatingAdmissionPolicyStrategy,
} from './admissionregistration/policy.ts'
import {
  mutatingAdmissionPolicyBindingStrategy,
  validatingAdmissionPolicyBindingStrategy,
} from './admissionregistration/policy-binding.ts'
import {
  mutatingWebhookConfigurationStrategy,
  validatingWebhookConfigurationStrategy,
} from './admissionregistration/webhook-configuration.ts'
import { configMapStrategy } from './core/config-map.ts'
import { limitRangeStrategy } from './core/limit-range.ts'
import { namespaceStrategy } from './core/namespace.ts'
import { nodeStrategy } from './core/node.ts'
import { persistentVolumeStrategy } from './core/persistent-volume.ts'
import { persistentVolumeClaimStrategy } from './core/persistent-volume-claim.ts'
import { resourceQuotaStrategy } from './core/resource-quota.ts'
import { secretStrategy } from './core/secret.ts'
import { serviceAccountStrategy } from './core/service-account.ts'
import { createEventStrategy, defaultEventTtl } from './event.ts'
import { podStrategy } from './pod/pod.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './rbac/binding.ts'
import { clusterRoleStrategy, roleStrategy } from './rbac/role.ts'
import {
  daemonSetStrategy,
  deploymentStrategy,
  replicaSetStrategy,
  statefulSetStrategy,
} from './workloads/apps.ts'
import { cronJobStrategy, jobStrategy } from './workloads/batch.ts'
import { podTemplateStrategy, replicationControllerStrategy } from './workloads/core.ts'

/** The kinds with rules of their own, by `GROUP/RESOURCE`. All others go by their schema. */
const strategies: Readonly<Record<string, Strategy>> = {
  'admissionregistration.k8s.io/mutatingadmissionpolicies': mutatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': mutatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': mutatingWebhookConfigurationStrategy,
  'admissionregistration.k8s.io/validatingadmissionpolicies': validatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': validatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': validatingWebhookConfigurationStrategy,
  'rbac.authorization.k8s.io/clusterrolebindings': clusterRoleBindingStrategy,
  'rbac.authorization.k8s.io/clusterroles': clusterRoleStrategy,
  'rbac.authorization.k8s.io/rolebindings': roleBindingStrategy,
  'rbac.authorization.k8s.io/roles': roleStrategy,
  '/configmaps': configMapStrategy,
  '/limitranges': limitRangeStrategy,
  '/namespaces': namespaceStrategy,
  '/nodes': nodeStrategy,
  '/persistentvolumeclaims': persistentVolumeClaimStrategy,
  '/persistentvolumes': persistentVolumeStrategy,
  '/resourcequotas': resourceQuotaStrategy,
  '/secrets': secretStrategy,
  '/serviceaccounts': serviceAccountStrategy,
  '/pods': podStrategy,
  '/podtemplates': podTemplateStrategy,
  '/replicationcontrollers': replicationControllerStrategy,
  'apps/daemonsets': daemonSetStrategy,
  'apps/deployments': deploymentStrategy,
  'apps/replicasets': replicaSetStrategy,
  'apps/statefulsets': statefulSetStrategy,
  'batch/cronjobs': cronJobStrategy,
  'batch/jobs': jobStrategy,
  '/events': createEventStrategy(defaultEventTtl),
  'events.k8s.io/events': createEventStrategy(defaultEventTtl),
  'apiextensions.k8s.io/customresourcedefinitions': customResourceDefinitionStrategy,
  'coordination.k8s.io/leases': { createOnUpdate: true },
}

/** Kinds without rules of their own that count changes of their wishes. */
const counting = new Set([
  'discovery.k8s.io/endpointslices',
  'flowcontrol.apiserver.k8s.io/flowschemas',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
  'networking.k8s.io/ingressclasses',
  'networking.k8s.io/ingresses',
  'networking.k8s.io/networkpolicies',
  'policy/poddisruptionbudgets',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/resourceslices',
  'scheduling.k8s.io/priorityclasses',
])

const bySchema: Strategy = {}
const withGeneration: Strategy = { generation: true }

export function strategyFor(group: string, resource: string): Strategy {
  const name = `${group}/${resource}`
  return strategies[name] ?? (counting.has(name) ? withGeneration : bySchema)
}
