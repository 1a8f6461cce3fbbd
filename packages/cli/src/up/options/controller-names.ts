import { CommandError } from '../../exit.ts'

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

export type ControllerName = (typeof controllerNames)[number]

/** Those that are part of the API server here, since they need its schemas. */
const serverControllerNames = ['validatingadmissionpolicy-status-controller'] as const

export type ServerControllerName = (typeof serverControllerNames)[number]

/** Older names that upstream still accepts, and kubeadm still writes; names without `-controller` are accepted too. */
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

/** Reads `--controllers`: `*`, names, `-name`, or `none`. Throws a usage error for an unknown name. */
export function selectControllers(list: readonly string[]): readonly ControllerName[] {
  const selected = readNames(list)
  return controllerNames.filter(name => isSelected(selected, name))
}

/** Reads the same list for controllers inside the server. */
export function selectServerControllers(list: readonly string[]): readonly ServerControllerName[] {
  const selected = readNames(list)
  return serverControllerNames.filter(name => isSelected(selected, name))
}

/** The list with current names only. */
function readNames(list: readonly string[]): readonly string[] {
  if (list.length === 1 && list[0] === 'none') return []
  if (!list.some(item => !item.startsWith('-')))
    throw new CommandError(
      `--controllers: ${list.length === 0 ? 'must not be empty' : `${list.join()} selects no controller`}; use '*', names, '*' with '-name', or none`,
      { exitCode: 2 },
    )
  return list.map(item => {
    if (item === '*') return item
    const [, sign = '', given = ''] = /^(-?)(.*)$/.exec(item) ?? []
    const name = [given, aliases[given], `${given}-controller`].find(each => each && allNames.includes(each))
    if (name !== undefined) return sign + name
    throw new CommandError(
      `--controllers: unknown controller ${JSON.stringify(given)}; known controllers: ${allNames.join(', ')}`,
      {
        exitCode: 2,
      },
    )
  })
}

function isSelected(list: readonly string[], name: string): boolean {
  return !list.includes(`-${name}`) && (list.includes('*') || list.includes(name))
}
