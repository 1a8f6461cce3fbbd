import type { DynamicObject } from '@coxswain/client'
import { formatGroupKind, nameOf } from './object-name.ts'

/** How far a rollout is, in the words of `kubectl rollout status`. */
export interface RolloutState {
  readonly state: 'done' | 'waiting' | 'failed'
  readonly message: string
}

interface Workload {
  readonly metadata: { readonly name: string; readonly generation?: number }
  readonly spec?: {
    readonly replicas?: number
    readonly updateStrategy?: {
      readonly type?: string
      readonly rollingUpdate?: { readonly partition?: number }
    }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly readyReplicas?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
    readonly desiredNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly conditions?: readonly { readonly type: string; readonly reason?: string }[]
  }
}

const waiting = (message: string): RolloutState => ({ state: 'waiting', message })
const done = (message: string): RolloutState => ({ state: 'done', message })

const readers: Readonly<Record<string, (workload: Workload) => RolloutState>> = {
  'Deployment.apps': readDeployment,
  'DaemonSet.apps': readDaemonSet,
  'StatefulSet.apps': readStatefulSet,
}

/** Whether objects of this kind are rolled out. */
export function isWorkload(object: DynamicObject): boolean {
  return Object.hasOwn(readers, formatGroupKind(nameOf(object)))
}

/** The state of the rollout of a Deployment, DaemonSet or StatefulSet. */
export function rolloutState(object: DynamicObject): RolloutState {
  return readers[formatGroupKind(nameOf(object))]!(object as unknown as Workload)
}

function readDeployment({ metadata, spec, status = {} }: Workload): RolloutState {
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status
  if (!isObserved(metadata, status)) return waiting('Waiting for deployment spec update to be observed...')
  const name = `deployment "${metadata.name}"`
  if (
    status.conditions?.some(
      ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
    )
  )
    return { state: 'failed', message: `${name} exceeded its progress deadline` }
  const text = `Waiting for ${name} rollout to finish:`
  const desired = spec?.replicas ?? 1
  if (updatedReplicas < desired)
    return waiting(`${text} ${updatedReplicas} out of ${desired} new replicas have been updated...`)
  if (replicas > updatedReplicas)
    return waiting(`${text} ${replicas - updatedReplicas} old replicas are pending termination...`)
  if (availableReplicas < updatedReplicas)
    return waiting(`${text} ${availableReplicas} of ${updatedReplicas} updated replicas are available...`)
  return done(`${name} successfully rolled out`)
}

function readDaemonSet({ metadata, spec, status = {} }: Workload): RolloutState {
  const {
    desiredNumberScheduled: desired = 0,
    updatedNumberScheduled: updated = 0,
    numberAvailable = 0,
  } = status
  if (!isObserved(metadata, status)) return waiting('Waiting for daemon set spec update to be observed...')
  const name = `daemon set "${metadata.name}"`
  const text = `Waiting for ${name} rollout to finish:`
  if (spec?.updateStrategy?.type !== 'OnDelete' && updated < desired)
    return waiting(`${text} ${updated} out of ${desired} new pods have been updated...`)
  if (numberAvailable < desired)
    return waiting(`${text} ${numberAvailable} of ${desired} updated pods are available...`)
  return done(`${name} successfully rolled out`)
}

function readStatefulSet({ metadata, spec, status = {} }: Workload): RolloutState {
  const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision = '' } = status
  if (!isObserved(metadata, status)) return waiting('Waiting for statefulset spec update to be observed...')
  const desired = spec?.replicas ?? 1
  if (readyReplicas < desired) return waiting(`Waiting for ${desired - readyReplicas} pods to be ready...`)
  const { type, rollingUpdate } = spec?.updateStrategy ?? {}
  const partition = rollingUpdate?.partition ?? 0
  if (type === 'OnDelete') return done(`statefulset "${metadata.name}" has ${readyReplicas} ready pods`)
  if (updatedReplicas < desired - partition)
    return waiting(
      `Waiting for partitioned roll out to finish: ${updatedReplicas} out of ${desired - partition} new pods have been updated...`,
    )
  if (partition > 0)
    return done(`partitioned roll out complete: ${updatedReplicas} new pods have been updated...`)
  if (currentRevision !== updateRevision)
    return waiting(
      `waiting for statefulset rolling update to complete ${updatedReplicas} pods at revision ${updateRevision}...`,
    )
  return done(`statefulset rolling update complete ${desired} pods at revision ${updateRevision}...`)
}

/** The status is about the spec that was applied. */
function isObserved(
  { generation = 0 }: Workload['metadata'],
  { observedGeneration = 0 }: NonNullable<Workload['status']>,
): boolean {
  return observedGeneration > 0 && observedGeneration >= generation
}
