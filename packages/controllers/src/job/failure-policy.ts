import type {
  Job,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
} from '@coxswain/api/batch/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { containerStatusesOf, type PodView } from '@coxswain/kinds'

type Rule = DeepReadonly<PodFailurePolicyRule>

/** The pod failure policy's decision about a failed pod. */
export interface Verdict {
  /** Whether it counts against the back-off limit. */
  readonly counts: boolean
  readonly failsIndex: boolean
  /** Why the job has to fail, if it does. */
  readonly message?: string
}

const counted: Verdict = { counts: true, failsIndex: false }

/** The first matching rule decides; without one the failure counts. */
export function judgeFailure({ spec }: DeepReadonly<Job>, pod: PodView): Verdict {
  for (const [index, rule] of (spec?.podFailurePolicy?.rules ?? []).entries()) {
    const match = matchRule(rule, pod)
    if (match === undefined) continue
    switch (rule.action) {
      case 'Ignore':
        return { counts: false, failsIndex: false }
      case 'FailIndex':
        return { counts: true, failsIndex: true }
      case 'FailJob':
        return { ...counted, message: `${match} matching ${rule.action} rule at index ${index}` }
      case 'Count':
        return counted
    }
  }
  return counted
}

/** Describes what matches the rule; undefined if nothing does. */
function matchRule({ onExitCodes, onPodConditions }: Rule, pod: PodView): string | undefined {
  const { namespace, name } = pod.metadata
  if (onExitCodes) {
    for (const container of containerStatusesOf(pod)) {
      const code = container.state?.terminated?.exitCode
      if (code === undefined || !isExitCodeMeant(onExitCodes, container.name, code)) continue
      return `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${code}`
    }
    return undefined
  }
  const condition = pod.status?.conditions?.find(({ type, status }) =>
    onPodConditions?.some(pattern => pattern.type === type && (pattern.status ?? 'True') === status),
  )
  return condition && `Pod ${namespace}/${name} has condition ${condition.type}`
}

function isExitCodeMeant(
  { containerName, operator, values }: DeepReadonly<PodFailurePolicyOnExitCodesRequirement>,
  container: string,
  code: number,
): boolean {
  if (code === 0 || (containerName !== undefined && containerName !== container)) return false
  return values.includes(code) === (operator === 'In')
}
