/** All controllers, by upstream's names. */
export const controllerNames = [
  'bootstrap-signer-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-cleaner-controller',
  'certificatesigningrequest-signing-controller',
  'cloud-node-controller',
  'cloud-node-lifecycle-controller',
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'device-taint-eviction-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'ephemeral-volume-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'job-controller',
  'legacy-serviceaccount-token-cleaner-controller',
  'local-path-provisioner',
  'namespace-controller',
  'node-ipam-controller',
  'node-lifecycle-controller',
  'node-route-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-expander-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'resourceclaim-controller',
  'resourcequota-controller',
  'root-ca-certificate-publisher-controller',
  'service-cidr-controller',
  'service-lb-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
  'taint-eviction-controller',
  'token-cleaner-controller',
  'ttl-after-finished-controller',
  'ttl-controller',
  'volumeattributesclass-protection-controller',
] as const

/** The name of a controller, as `--controllers` takes it. */
export type ControllerName = (typeof controllerNames)[number]

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

/**
 * Selects controllers as kube-controller-manager's `--controllers` does: `*`, names, `-name`, or `none` alone. Throws an Error for a
 * name that does not exist.
 */
export function selectControllers(list: readonly ControllerSelector[]): readonly ControllerName[] {
  const selected = readNames(list)
  return controllerNames.filter(name => isSelected(selected, name))
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
