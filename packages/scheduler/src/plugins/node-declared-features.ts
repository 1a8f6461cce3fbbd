import type { NodeView, PodView } from '@coxswain/kinds'
import { nodesOf, type SchedulerPlugin, skip, unresolvable } from '../plugin.ts'

/** The kubelet features that a pod requires, by the names under which nodes declare them. */
const requirements: Readonly<Record<string, (spec: PodView['spec']) => boolean>> = {
  RestartAllContainersOnContainerExits: ({ containers, initContainers = [] }) =>
    [...containers, ...initContainers].some(({ restartPolicyRules = [] }) =>
      restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }) =>
    hostNetwork === true && hostUsers === false,
}

function requiredBy({ spec }: PodView): string[] {
  return Object.keys(requirements).filter(name => requirements[name]!(spec))
}

function declares({ status }: NodeView, features: readonly string[]): boolean {
  return features.every(feature => status?.declaredFeatures?.includes(feature))
}

/** Rejects nodes whose kubelet lacks features that the pod requires. */
export const nodeDeclaredFeatures: SchedulerPlugin = {
  name: 'NodeDeclaredFeatures',
  preFilter: ({ pod }) => (requiredBy(pod.pod).length === 0 ? skip : undefined),
  filter: ({ pod }, { node }) =>
    declares(node, requiredBy(pod.pod))
      ? undefined
      : unresolvable("node(s) didn't match Pod's required features"),
  // The requirements of a pod are immutable.
  wakesOn: event => nodesOf(event, 'features') !== undefined,
}
