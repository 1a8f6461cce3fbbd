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
import { apiServiceStrategy } from './apiregistration/api-service.ts'
import { controllerRevisionStrategy } from './apps/controller-revision.ts'
import { daemonSetStrategy } from './apps/daemon-set.ts'
import { deploymentStrategy } from './apps/deployment.ts'
import { replicaSetStrategy } from './apps/replica-set.ts'
import { statefulSetStrategy } from './apps/stateful-set.ts'
import { horizontalPodAutoscalerStrategy } from './autoscaling/horizontal-pod-autoscaler.ts'
import { cronJobStrategy } from './batch/cron-job.ts'
import { jobStrategy } from './batch/job.ts'
import { certificateSigningRequestStrategy } from './certificates/certificate-signing-request.ts'
import { leaseStrategy } from './coordination/lease.ts'
import { componentStatusStrategy } from './core/component-status.ts'
import { configMapStrategy } from './core/config-map.ts'
import { endpointsStrategy } from './core/endpoints.ts'
import { createEventStrategy, defaultEventTtl } from './core/event.ts'
import { limitRangeStrategy } from './core/limit-range.ts'
import { namespaceStrategy } from './core/namespace.ts'
import { nodeStrategy } from './core/node.ts'
import { persistentVolumeStrategy } from './core/persistent-volume.ts'
import { persistentVolumeClaimStrategy } from './core/persistent-volume-claim.ts'
import { podStrategy } from './core/pod/pod.ts'
import { podTemplateStrategy } from './core/pod-template.ts'
import { replicationControllerStrategy } from './core/replication-controller.ts'
import { resourceQuotaStrategy } from './core/resource-quota.ts'
import { secretStrategy } from './core/secret.ts'
import { serviceStrategy } from './core/service/service.ts'
import { serviceAccountStrategy } from './core/service-account.ts'
import { endpointSliceStrategy } from './discovery/endpoint-slice.ts'
import { flowSchemaStrategy } from './flowcontrol/flow-schema.ts'
import { priorityLevelConfigurationStrategy } from './flowcontrol/priority-level-configuration.ts'
import { ingressStrategy } from './networking/ingress.ts'
import { ingressClassStrategy } from './networking/ingress-class.ts'
import { ipAddressStrategy } from './networking/ip-address.ts'
import { networkPolicyStrategy } from './networking/network-policy.ts'
import { serviceCIDRStrategy } from './networking/service-cidr.ts'
import { runtimeClassStrategy } from './node-k8s-io/runtime-class.ts'
import { podDisruptionBudgetStrategy } from './policy/pod-disruption-budget.ts'
import { clusterRoleStrategy, roleStrategy } from './rbac/role.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './rbac/role-binding.ts'
import { deviceClassStrategy } from './resource/device-class.ts'
import { resourceClaimStrategy, resourceClaimTemplateStrategy } from './resource/resource-claim.ts'
import { resourceSliceStrategy } from './resource/resource-slice.ts'
import { priorityClassStrategy } from './scheduling/priority-class.ts'
import { csiDriverStrategy } from './storage/csi-driver.ts'
import { csiNodeStrategy } from './storage/csi-node.ts'
import { csiStorageCapacityStrategy } from './storage/csi-storage-capacity.ts'
import { storageClassStrategy } from './storage/storage-class.ts'
import { volumeAttachmentStrategy } from './storage/volume-attachment.ts'
import { volumeAttributesClassStrategy } from './storage/volume-attributes-class.ts'
import type { Strategy } from './strategy.ts'

/** The kinds with rules of their own, by `GROUP/RESOURCE`. All others go by their schema. */
const strategies: Readonly<Record<string, Strategy>> = {
  'resource.k8s.io/resourceslices': resourceSliceStrategy,
  'resource.k8s.io/resourceclaimtemplates': resourceClaimTemplateStrategy,
  'resource.k8s.io/resourceclaims': resourceClaimStrategy,
  'resource.k8s.io/deviceclasses': deviceClassStrategy,
  'apiregistration.k8s.io/apiservices': apiServiceStrategy,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevelConfigurationStrategy,
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemaStrategy,
  'certificates.k8s.io/certificatesigningrequests': certificateSigningRequestStrategy,
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
  '/componentstatuses': componentStatusStrategy,
  '/configmaps': configMapStrategy,
  '/limitranges': limitRangeStrategy,
  '/namespaces': namespaceStrategy,
  '/nodes': nodeStrategy,
  '/persistentvolumeclaims': persistentVolumeClaimStrategy,
  '/persistentvolumes': persistentVolumeStrategy,
  '/resourcequotas': resourceQuotaStrategy,
  '/secrets': secretStrategy,
  '/endpoints': endpointsStrategy,
  '/services': serviceStrategy,
  'discovery.k8s.io/endpointslices': endpointSliceStrategy,
  'networking.k8s.io/ingressclasses': ingressClassStrategy,
  'networking.k8s.io/ingresses': ingressStrategy,
  'networking.k8s.io/ipaddresses': ipAddressStrategy,
  'networking.k8s.io/networkpolicies': networkPolicyStrategy,
  'networking.k8s.io/servicecidrs': serviceCIDRStrategy,
  '/serviceaccounts': serviceAccountStrategy,
  '/pods': podStrategy,
  '/podtemplates': podTemplateStrategy,
  '/replicationcontrollers': replicationControllerStrategy,
  'apps/controllerrevisions': controllerRevisionStrategy,
  'apps/daemonsets': daemonSetStrategy,
  'apps/deployments': deploymentStrategy,
  'apps/replicasets': replicaSetStrategy,
  'apps/statefulsets': statefulSetStrategy,
  'batch/cronjobs': cronJobStrategy,
  'batch/jobs': jobStrategy,
  'policy/poddisruptionbudgets': podDisruptionBudgetStrategy,
  '/events': createEventStrategy('', defaultEventTtl),
  'autoscaling/horizontalpodautoscalers': horizontalPodAutoscalerStrategy,
  'events.k8s.io/events': createEventStrategy('events.k8s.io', defaultEventTtl),
  'coordination.k8s.io/leases': leaseStrategy,
  'node.k8s.io/runtimeclasses': runtimeClassStrategy,
  'scheduling.k8s.io/priorityclasses': priorityClassStrategy,
  'storage.k8s.io/csidrivers': csiDriverStrategy,
  'storage.k8s.io/csinodes': csiNodeStrategy,
  'storage.k8s.io/csistoragecapacities': csiStorageCapacityStrategy,
  'storage.k8s.io/storageclasses': storageClassStrategy,
  'storage.k8s.io/volumeattachments': volumeAttachmentStrategy,
  'storage.k8s.io/volumeattributesclasses': volumeAttributesClassStrategy,
}

/** Kinds without rules of their own that count changes of their wishes. */
const counting = new Set(['resource.k8s.io/deviceclasses', 'resource.k8s.io/resourceslices'])

const bySchema: Strategy = {}
const withGeneration: Strategy = { generation: true }

export function strategyFor(group: string, resource: string): Strategy {
  const name = `${group}/${resource}`
  return strategies[name] ?? (counting.has(name) ? withGeneration : bySchema)
}
