import type { Deployment } from '@coxswain/api/apps/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { scaleIntOrPercent } from '@coxswain/kinds'

export type DeploymentView = DeepReadonly<Deployment>

export function wantedReplicas({ spec }: DeploymentView): number {
  return spec?.replicas ?? 1
}

export function isRolling({ spec }: DeploymentView): boolean {
  return (spec?.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
}

/** How many pods there may be too many and too few while a rollout goes on. Never both none. */
export function fenceposts(deployment: DeploymentView): {
  readonly surge: number
  readonly unavailable: number
} {
  const replicas = wantedReplicas(deployment)
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 }
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = scaleIntOrPercent(maxSurge, replicas, 'up')
  const unavailable = scaleIntOrPercent(maxUnavailable, replicas, 'down')
  if (surge === 0 && unavailable === 0) return { surge, unavailable: 1 }
  return { surge, unavailable }
}

export function maxUnavailable(deployment: DeploymentView): number {
  return Math.min(fenceposts(deployment).unavailable, wantedReplicas(deployment))
}

const noDeadline = 2 ** 31 - 1

/** Milliseconds within which a rollout has to get on; undefined for ever. */
export function progressDeadline({ spec }: DeploymentView): number | undefined {
  const seconds = spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === noDeadline ? undefined : seconds * 1_000
}
