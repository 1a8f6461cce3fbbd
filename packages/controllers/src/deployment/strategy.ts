import type { Deployment } from '@coxswain/api/apps/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { scaleIntOrPercent } from '@coxswain/kinds'

export type DeploymentView = DeepReadonly<Deployment>

export function desiredReplicas({ spec }: DeploymentView): number {
  return spec?.replicas ?? 1
}

export function isRolling({ spec }: DeploymentView): boolean {
  return (spec?.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
}

/** `maxSurge` and `maxUnavailable` as numbers of pods. Never both 0. */
export function fenceposts(deployment: DeploymentView): {
  readonly surge: number
  readonly unavailable: number
} {
  const replicas = desiredReplicas(deployment)
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 }
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = scaleIntOrPercent(maxSurge, replicas, 'up')
  const unavailable = scaleIntOrPercent(maxUnavailable, replicas, 'down')
  if (surge === 0 && unavailable === 0) return { surge, unavailable: 1 }
  return { surge, unavailable }
}

export function maxUnavailable(deployment: DeploymentView): number {
  return Math.min(fenceposts(deployment).unavailable, desiredReplicas(deployment))
}

const noDeadline = 2 ** 31 - 1

/** The progress deadline in milliseconds; undefined if there is none. */
export function progressDeadline({ spec }: DeploymentView): number | undefined {
  const seconds = spec?.progressDeadlineSeconds
  return seconds === undefined || seconds === noDeadline ? undefined : seconds * 1_000
}
