import type { AdmissionPlugin } from './admission.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIPs } from './deny-service-external-ips.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceAutoProvision, namespaceExists } from './namespace-existence.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { createPodNodeSelector, type PodNodeSelectorConfiguration } from './pod-node-selector.ts'
import { podResizeValidator } from './pod-resize-validator.ts'
import { createPodSecurity, type PodSecurityConfiguration, podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { mutatingAdmissionPolicy } from './policies/mutating.ts'
import { validatingAdmissionPolicy } from './policies/validating.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import { mutatingAdmissionWebhook } from './webhooks/mutating.ts'
import { validatingAdmissionWebhook } from './webhooks/validating.ts'

interface KnownPlugin {
  readonly name: string
  readonly isDefault: boolean
  /** Undefined for plug-ins that this server lacks, or whose feature gate is off in 1.36. */
  readonly plugin: AdmissionPlugin | undefined
}

const on = (plugin: AdmissionPlugin): KnownPlugin => ({ name: plugin.name, isDefault: true, plugin })
const off = (plugin: AdmissionPlugin): KnownPlugin => ({ name: plugin.name, isDefault: false, plugin })
/** Enabled by default, but its feature gate is not. */
const idle = (name: string): KnownPlugin => ({ name, isDefault: true, plugin: undefined })
const missing = (name: string): KnownPlugin => ({ name, isDefault: false, plugin: undefined })

/** Every plug-in of kube-apiserver 1.36, in the order in which they run. */
const knownPlugins: readonly KnownPlugin[] = [
  off(alwaysAdmit),
  off(namespaceAutoProvision),
  on(namespaceLifecycle),
  off(namespaceExists),
  off(limitPodHardAntiAffinityTopology),
  on(limitRanger),
  on(serviceAccount),
  on(nodeRestriction), // off by default upstream, but enabled by every cluster with kubelets
  on(taintNodesByCondition),
  off(alwaysPullImages),
  missing('ImagePolicyWebhook'),
  on(podSecurity),
  off(createPodNodeSelector()),
  on(priority),
  on(defaultTolerationSeconds),
  missing('PodTolerationRestriction'),
  missing('EventRateLimit'),
  off(extendedResourceToleration),
  on(defaultStorageClass),
  on(storageObjectInUseProtection),
  idle('PodGroupProtection'),
  off(ownerReferencesPermissionEnforcement),
  on(persistentVolumeClaimResize),
  on(runtimeClass),
  on(certificateApproval),
  on(certificateSigning),
  on(clusterTrustBundleAttest),
  on(certificateSubjectRestriction),
  on(defaultIngressClass),
  off(denyServiceExternalIPs),
  on(podTopologyLabels),
  idle('PodGroupWorkloadExists'),
  idle('NodeDeclaredFeatureValidator'),
  idle('JobValidation'),
  on(podResizeValidator),
  on(mutatingAdmissionPolicy),
  on(mutatingAdmissionWebhook),
  on(validatingAdmissionPolicy),
  on(validatingAdmissionWebhook),
  on(resourceQuota),
  off(alwaysDeny),
]

/** The plug-ins that are enabled by default, in upstream's order. */
export const defaultAdmissionPlugins: readonly AdmissionPlugin[] = knownPlugins.flatMap(
  ({ isDefault, plugin }) => (isDefault && plugin ? [plugin] : []),
)

/** Per-plug-in settings of AdmissionConfiguration. */
export interface PluginConfigurations {
  readonly PodSecurity?: PodSecurityConfiguration
  readonly PodNodeSelector?: PodNodeSelectorConfiguration
}

/** Which admission plug-ins to enable and disable, by name. */
export interface PluginChoice {
  /** `--enable-admission-plugins`: in addition to the defaults. */
  readonly enable?: readonly string[]
  /** `--disable-admission-plugins` */
  readonly disable?: readonly string[]
  readonly configurations?: PluginConfigurations
}

/** The enabled plug-ins, or the error of an invalid choice. */
export type ChosenPlugins =
  | { readonly ok: true; readonly plugins: readonly AdmissionPlugin[] }
  /** The message is kube-apiserver's. */
  | { readonly ok: false; readonly errors: readonly string[] }

/** The enabled plug-ins in kube-apiserver's order, regardless of the order of their names. */
export function chooseAdmissionPlugins(choice: PluginChoice): ChosenPlugins {
  const { enable = [], disable = [], configurations = {} } = choice
  const isUnknown = (name: string) => !knownPlugins.some(known => known.name === name)
  const both = [...new Set(enable)].filter(name => disable.includes(name)).sort()
  const lacking = knownPlugins.filter(
    ({ name, isDefault, plugin }) => !isDefault && !plugin && enable.includes(name),
  )
  const errors = [
    ...enable.filter(isUnknown).map(name => `enable-admission-plugins plugin "${name}" is unknown`),
    ...disable.filter(isUnknown).map(name => `disable-admission-plugins plugin "${name}" is unknown`),
    ...(both.length > 0
      ? [`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]
      : []),
    ...lacking.map(({ name }) => `enable-admission-plugins plugin "${name}" is not part of this server`),
  ]
  if (errors.length > 0) return { ok: false, errors }
  const plugins = knownPlugins.flatMap(({ name, isDefault, plugin }) => {
    const isOn = enable.includes(name) || (isDefault && !disable.includes(name))
    return isOn && plugin ? [configured(plugin, configurations)] : []
  })
  return { ok: true, plugins }
}

function configured(plugin: AdmissionPlugin, configurations: PluginConfigurations): AdmissionPlugin {
  const { PodSecurity, PodNodeSelector } = configurations
  if (plugin.name === 'PodSecurity' && PodSecurity) return createPodSecurity(PodSecurity)
  if (plugin.name === 'PodNodeSelector' && PodNodeSelector) return createPodNodeSelector(PodNodeSelector)
  return plugin
}
