import { CommandError } from '../exit.ts'

/** The controllers there are, by upstream's names. */
export const controllerNames = [
  'bootstrap-signer-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-cleaner-controller',
  'certificatesigningrequest-signing-controller',
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'ephemeral-volume-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'job-controller',
  'local-path-provisioner',
  'namespace-controller',
  'node-lifecycle-controller',
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
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
  'taint-eviction-controller',
  'token-cleaner-controller',
  'ttl-after-finished-controller',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** Those that are part of the API server here, since they need its schemas. */
const serverControllerNames = ['validatingadmissionpolicy-status-controller'] as const

export type ServerControllerName = (typeof serverControllerNames)[number]

const allNames: readonly string[] = [...controllerNames, ...serverControllerNames]

/** Reads `--controllers`: `*`, names, `-name`, or `none`. Throws a usage error for a name that is none. */
export function selectControllers(list: readonly string[]): readonly ControllerName[] {
  if (list.length === 1 && list[0] === 'none') return []
  for (const item of list) {
    const name = item.replace(/^-/, '')
    if (name === '*' || allNames.includes(name)) continue
    throw new CommandError(`--controllers: there is no ${name}; there are ${allNames.join(', ')}`, {
      exitCode: 2,
    })
  }
  return controllerNames.filter(name => isSelected(list, name))
}

/** Reads the same list for what runs inside the server. */
export function selectServerControllers(list: readonly string[]): readonly ServerControllerName[] {
  if (list.length === 1 && list[0] === 'none') return []
  return serverControllerNames.filter(name => isSelected(list, name))
}

function isSelected(list: readonly string[], name: string): boolean {
  return !list.includes(`-${name}`) && (list.includes('*') || list.includes(name))
}
