import { mutatingAdmissionPolicyStrategy } from './admissionregistration/mutating-admission-policy.ts'
import { mutatingAdmissionPolicyBindingStrategy } from './admissionregistration/mutating-admission-policy-binding.ts'
import { mutatingWebhookConfigurationStrategy } from './admissionregistration/mutating-webhook-configuration.ts'
import { validatingAdmissionPolicyStrategy } from './admissionregistration/validating-admission-policy.ts'
import { validatingAdmissionPolicyBindingStrategy } from './admissionregistration/validating-admission-policy-binding.ts'
import { validatingWebhookConfigurationStrategy } from './admissionregistration/validating-webhook-configuration.ts'
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
import { clusterRoleStrategy } from './rbac/cluster-role.ts'
import { clusterRoleBindingStrategy } from './rbac/cluster-role-binding.ts'
import { roleStrategy } from './rbac/role.ts'
import { roleBindingStrategy } from './rbac/role-binding.ts'
import { deviceClassStrategy } from './resource/device-class.ts'
import { resourceClaimStrategy } from './resource/resource-claim.ts'
import { resourceClaimTemplateStrategy } from './resource/resource-claim-template.ts'
import { resourceSliceStrategy } from './resource/resource-slice.ts'
import { priorityClassStrategy } from './scheduling/priority-class.ts'
import { csiDriverStrategy } from './storage/csi-driver.ts'
import { csiNodeStrategy } from './storage/csi-node.ts'
import { csiStorageCapacityStrategy } from './storage/csi-storage-capacity.ts'
import { storageClassStrategy } from './storage/storage-class.ts'
import { volumeAttachmentStrategy } from './storage/volume-attachment.ts'
import { volumeAttributesClassStrategy } from './storage/volume-attributes-class.ts'
import type { Strategy } from './strategy.ts'

/** The kinds with rules of their own, by `GROUP/RESOURCE`. All others are handled by their schema alone. */
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

const bySchema: Strategy = {}

/** The strategy of a built-in resource; one without rules of its own for those that have none. */
export function strategyFor(group: string, resource: string): Strategy {
  return strategies[`${group}/${resource}`] ?? bySchema
}
