import type { NodeView, PodView } from '@coxswain/kinds'
import { nodesOf, type SchedulerPlugin, skip, unresolvable } from '../plugin.ts'

/** What a kubelet has to be able to do for a pod, by the names under which nodes declare it. */
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

/** Keeps pods from nodes whose kubelet does not know what they ask for. */
export const nodeDeclaredFeatures: SchedulerPlugin = {
  name: 'NodeDeclaredFeatures',
  preFilter: ({ pod }) => (requiredBy(pod.pod).length === 0 ? skip : undefined),
  filter: ({ pod }, { node }) =>
    declares(node, requiredBy(pod.pod))
      ? undefined
      : unresolvable("node(s) didn't match Pod's required features"),
  // What a pod requires stays as it is.
  wakesOn: event => nodesOf(event, 'features') !== undefined,
}
