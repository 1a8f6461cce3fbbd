import type { Container } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { ContainerRecord } from './container-record.ts'

type Rule = NonNullable<DeepReadonly<Container>['restartPolicyRules']>[number]

/** Of the container, or the Pod's where it has none. */
export function restartPolicyOf(pod: PodView, container: DeepReadonly<Container>): string {
  return container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always'
}

/** Whether a container that has ended is started again. */
export function isRestarted(pod: PodView, { container, role, state }: ContainerRecord): boolean {
  if (role === 'sidecar') return true
  if (role === 'ephemeral') return false
  const exitCode = state.terminated?.exitCode ?? 0
  if (findRestartRule(container, exitCode)) return true
  const policy = restartPolicyOf(pod, container)
  // An init container that succeeds starts the next one, whatever the policy of its Pod.
  if (exitCode === 0) return policy === 'Always' && role === 'main'
  return policy !== 'Never'
}

/** The first restart rule that matches an exit code. Rules are ignored without a container restart policy. */
export function findRestartRule(container: DeepReadonly<Container>, exitCode: number): Rule | undefined {
  if (container.restartPolicy === undefined) return undefined
  return container.restartPolicyRules?.find(({ exitCodes }) => {
    const isAmong = exitCodes?.values?.includes(exitCode) ?? false
    if (exitCodes?.operator === 'In') return isAmong
    return exitCodes?.operator === 'NotIn' && !isAmong
  })
}
