/** All controllers, by upstream's names, each with the resources that it does not work without. */
const controllerNeeds = {
  'bootstrap-signer-controller': 'configmaps nodes secrets',
  'certificatesigningrequest-approving-controller': 'certificatesigningrequests.certificates.k8s.io',
  'certificatesigningrequest-cleaner-controller': 'certificatesigningrequests.certificates.k8s.io',
  'certificatesigningrequest-signing-controller': 'certificatesigningrequests.certificates.k8s.io',
  'cloud-node-controller': 'nodes',
  'cloud-node-lifecycle-controller': 'nodes',
  'clusterrole-aggregation-controller': 'clusterroles.rbac.authorization.k8s.io',
  'cronjob-controller': 'cronjobs.batch jobs.batch',
  'daemonset-controller': 'controllerrevisions.apps daemonsets.apps nodes pods',
  'deployment-controller': 'deployments.apps pods replicasets.apps',
  'device-taint-eviction-controller': 'pods resourceclaims.resource.k8s.io resourceslices.resource.k8s.io',
  'disruption-controller': 'poddisruptionbudgets.policy pods',
  'endpoints-controller': 'endpoints pods services',
  'endpointslice-controller': 'endpointslices.discovery.k8s.io nodes pods services',
  'endpointslice-mirroring-controller': 'endpoints endpointslices.discovery.k8s.io services',
  'ephemeral-volume-controller': 'persistentvolumeclaims pods',
  'garbage-collector-controller': '',
  'horizontal-pod-autoscaler-controller': 'horizontalpodautoscalers.autoscaling pods',
  'job-controller': 'jobs.batch pods',
  'legacy-serviceaccount-token-cleaner-controller': 'configmaps pods secrets serviceaccounts',
  'local-path-provisioner': 'persistentvolumeclaims persistentvolumes storageclasses.storage.k8s.io',
  'namespace-controller': 'namespaces',
  'node-ipam-controller': 'nodes',
  'node-lifecycle-controller': 'leases.coordination.k8s.io nodes pods',
  'node-route-controller': 'nodes',
  'persistentvolume-attach-detach-controller':
    'csidrivers.storage.k8s.io nodes persistentvolumeclaims persistentvolumes pods volumeattachments.storage.k8s.io',
  'persistentvolume-binder-controller':
    'persistentvolumeclaims persistentvolumes pods storageclasses.storage.k8s.io',
  'persistentvolume-expander-controller': 'persistentvolumeclaims persistentvolumes',
  'persistentvolume-protection-controller': 'persistentvolumes',
  'persistentvolumeclaim-protection-controller': 'persistentvolumeclaims pods',
  'pod-garbage-collector-controller': 'nodes pods',
  'replicaset-controller': 'pods replicasets.apps',
  'replicationcontroller-controller': 'pods replicationcontrollers',
  'resourceclaim-controller': 'pods resourceclaims.resource.k8s.io resourceclaimtemplates.resource.k8s.io',
  'resourcequota-controller': 'resourcequotas',
  'root-ca-certificate-publisher-controller': 'configmaps namespaces',
  'service-cidr-controller': 'ipaddresses.networking.k8s.io servicecidrs.networking.k8s.io',
  'service-lb-controller': 'nodes services',
  'serviceaccount-controller': 'namespaces serviceaccounts',
  'serviceaccount-token-controller': 'secrets serviceaccounts',
  'statefulset-controller': 'controllerrevisions.apps persistentvolumeclaims pods statefulsets.apps',
  'taint-eviction-controller': 'nodes pods',
  'token-cleaner-controller': 'nodes secrets',
  'ttl-after-finished-controller': 'jobs.batch',
  'ttl-controller': 'nodes',
  'volumeattributesclass-protection-controller':
    'persistentvolumeclaims persistentvolumes volumeattributesclasses.storage.k8s.io',
} as const

/** All controllers, by upstream's names. */
export const controllerNames = Object.keys(controllerNeeds) as readonly ControllerName[]

/** The name of a controller, as `--controllers` takes it. */
export type ControllerName = keyof typeof controllerNeeds

/** Those that a control plane without Pods runs. */
const genericControllerNames = [
  'clusterrole-aggregation-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'resourcequota-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
] as const

/** The name of a controller that works without Pods. */
export type GenericControllerName = (typeof genericControllerNames)[number]

/** Whether a controller works without Pods. */
export function isGenericController(name: ControllerName): name is GenericControllerName {
  return (genericControllerNames as readonly string[]).includes(name)
}

/** Those that are part of the API server here, since they need its schemas. */
const serverControllerNames = ['validatingadmissionpolicy-status-controller'] as const

/** The name of a controller that the API server runs itself. */
export type ServerControllerName = (typeof serverControllerNames)[number]

/** Older names that upstream still takes, and kubeadm still writes; so are all names without `-controller`. */
const aliases: Readonly<Record<string, ControllerName>> = {
  attachdetach: 'persistentvolume-attach-detach-controller',
  bootstrapsigner: 'bootstrap-signer-controller',
  csrapproving: 'certificatesigningrequest-approving-controller',
  csrcleaner: 'certificatesigningrequest-cleaner-controller',
  csrsigning: 'certificatesigningrequest-signing-controller',
  endpoint: 'endpoints-controller',
  endpointslicemirroring: 'endpointslice-mirroring-controller',
  garbagecollector: 'garbage-collector-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler-controller',
  'legacy-service-account-token-cleaner': 'legacy-serviceaccount-token-cleaner-controller',
  nodeipam: 'node-ipam-controller',
  nodelifecycle: 'node-lifecycle-controller',
  podgc: 'pod-garbage-collector-controller',
  'pv-protection': 'persistentvolume-protection-controller',
  'pvc-protection': 'persistentvolumeclaim-protection-controller',
  'resource-claim-controller': 'resourceclaim-controller',
  'root-ca-cert-publisher': 'root-ca-certificate-publisher-controller',
  route: 'node-route-controller',
  service: 'service-lb-controller',
  tokencleaner: 'token-cleaner-controller',
}

const allNames: readonly string[] = [...controllerNames, ...serverControllerNames]

/** One entry of a list as `--controllers` has it: a name, `-` and a name, `*` for all that are on by default. */
export type ControllerSelector = '*' | ControllerName | `-${ControllerName}` | (string & {})

/** Whether a resource is served, by its name with its group, such as `deployments.apps`. */
export type ServesResource = (resource: string) => boolean

/**
 * Selects controllers as kube-controller-manager's `--controllers` does: `*`, names, `-name`, or `none` alone. Of `*`, those
 * remain whose resources are served. Throws an Error for a name that does not exist, and for one whose resources are not served.
 */
export function selectControllers(
  list: readonly ControllerSelector[],
  serves: ServesResource = () => true,
): readonly ControllerName[] {
  const selected = readNames(list)
  return controllerNames.filter(name => {
    if (!isSelected(selected, name)) return false
    const missing = resourcesOf(name).find(resource => !serves(resource))
    if (missing !== undefined && selected.includes(name))
      throw new Error(`${name} needs ${missing}, which is not served`)
    return missing === undefined
  })
}

/** The resources that a controller does not work without, by name with group. */
export function resourcesOf(name: ControllerName): readonly string[] {
  return controllerNeeds[name].split(' ').filter(resource => resource !== '')
}

/** Reads the same list for the controllers that run inside the API server. */
export function selectServerControllers(
  list: readonly ControllerSelector[],
): readonly ServerControllerName[] {
  const selected = readNames(list)
  return serverControllerNames.filter(name => isSelected(selected, name))
}

/** The list with today's names only. */
function readNames(list: readonly string[]): readonly string[] {
  if (list.length === 1 && list[0] === 'none') return []
  if (!list.some(item => !item.startsWith('-')))
    throw new Error(
      `${list.length === 0 ? 'must not be empty' : `${list.join()} selects no controller`}; use '*', names, '*' with '-name', or none`,
    )
  return list.map(item => {
    if (item === '*') return item
    const [, sign = '', given = ''] = /^(-?)(.*)$/.exec(item) ?? []
    const name = [given, aliases[given], `${given}-controller`].find(each => each && allNames.includes(each))
    if (name !== undefined) return sign + name
    throw new Error(`unknown controller "${given}"; known controllers: ${allNames.join(', ')}`)
  })
}

function isSelected(list: readonly string[], name: string): boolean {
  return !list.includes(`-${name}`) && (list.includes('*') || list.includes(name))
}
