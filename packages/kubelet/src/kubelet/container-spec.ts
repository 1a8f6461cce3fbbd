import type { Container, Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { ContainerRole, ContainerSpec } from '../container-runtime.ts'
import { expand } from './expand.ts'
import { hostnameOf } from './pod-files.ts'
import { restartPolicyOf } from './restart-policy.ts'

/** The spec of a Pod's container for a runtime, with the variables in its command expanded. */
export function makeContainerSpec(
  pod: DeepReadonly<Pod>,
  container: DeepReadonly<Container>,
  role: ContainerRole,
  variables: ReadonlyMap<string, string>,
): Omit<ContainerSpec, 'pod' | 'attempt'> {
  const put = (text: string) => expand(text, name => variables.get(name))
  const { command, args, workingDir, volumeMounts = [] } = container
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser
  const group = container.securityContext?.runAsGroup ?? pod.spec.securityContext?.runAsGroup
  const hostname = hostnameOf(pod)
  return {
    name: container.name,
    role,
    restartPolicy: restartPolicyOf(pod, container),
    annotations: pod.metadata.annotations ?? {},
    image: container.image ?? '',
    env: variables,
    ...(command && command.length > 0 && { command: command.map(put) }),
    ...(args && args.length > 0 && { args: args.map(put) }),
    ...(workingDir && { workingDir }),
    mounts: volumeMounts.map(({ name, mountPath, subPath, subPathExpr, readOnly = false }) => {
      const within = subPathExpr ? put(subPathExpr) : subPath
      return { volume: name, mountPath, readOnly, ...(within && { subPath: within }) }
    }),
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    terminationMessagePath: container.terminationMessagePath ?? '/dev/termination-log',
    runAsNonRoot: container.securityContext?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot ?? false,
    ...(hostname !== undefined && { hostname }),
    sharesProcesses: pod.spec.hostPID || pod.spec.shareProcessNamespace || false,
    ...(user !== undefined && { user }),
    ...(group !== undefined && { group }),
  }
}
