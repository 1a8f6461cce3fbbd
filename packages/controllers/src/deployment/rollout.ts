import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import {
  type DeepReadonly,
  findStatusCondition,
  getControllerOf,
  type LabelSelector,
} from '@coxswain/apimachinery/meta'
import { isAlreadyExists, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { controllerReference, hashPodTemplate } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'
import { isNamespaceTerminating } from '../pods/pod-control.ts'
import { type ConditionUpdate, type ConditionView, setCondition } from './conditions.ts'
import {
  compareRevisions,
  isSameTemplate,
  newReplicaSetAnnotations,
  nextRevision,
  type ReplicaSetView,
  revisionAnnotation,
  templateHashLabel,
  withReplicaCounts,
} from './revisions.ts'
import { newReplicaSetSize } from './rolling-update.ts'
import { byCreation, isActive, type Resize, sizeOf } from './scaling.ts'
import { type DeploymentView, progressDeadline } from './strategy.ts'

const longestName = 253

/** A Deployment and its ReplicaSets during one reconciliation. Writes update this view. */
export class Rollout {
  readonly #context: ReconcileContext
  #deployment: DeploymentView
  #sets: readonly ReplicaSetView[]

  constructor(context: ReconcileContext, deployment: DeploymentView, sets: readonly ReplicaSetView[]) {
    this.#context = context
    this.#deployment = deployment
    this.#sets = sets
  }

  get deployment(): DeploymentView {
    return this.#deployment
  }

  get all(): readonly ReplicaSetView[] {
    return this.#sets
  }

  /** The new ReplicaSet: the oldest one that has the Deployment's template. */
  get newReplicaSet(): ReplicaSetView | undefined {
    const { template } = this.#deployment.spec!
    return [...this.#sets].sort(byCreation).find(({ spec }) => isSameTemplate(spec?.template, template))
  }

  get old(): readonly ReplicaSetView[] {
    const { newReplicaSet } = this
    return this.#sets.filter(({ metadata }) => metadata.uid !== newReplicaSet?.metadata.uid)
  }

  get now(): string {
    return formatTime(this.#context.clock.now())
  }

  /** Updates the revision of the new ReplicaSet and of the Deployment, and creates the ReplicaSet if it is missing and `create` is set. */
  async syncNewReplicaSet({ create }: { readonly create: boolean }): Promise<ReplicaSetView | undefined> {
    const revision = nextRevision(this.old)
    const existing = this.newReplicaSet
    if (!existing) return create ? await this.#createSet(revision) : undefined
    const before = existing.metadata.annotations ?? {}
    const annotations = newReplicaSetAnnotations(before, this.#deployment, revision)
    const minReadySeconds = this.#deployment.spec?.minReadySeconds ?? 0
    let current = existing
    if (!deepEqual(annotations, before) || (existing.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
      current = await this.#updateSet(existing, { annotations, minReadySeconds })
    }
    const isFirst = progressDeadline(this.#deployment) !== undefined && !this.condition('Progressing')
    const message = `Found new replica set ${JSON.stringify(current.metadata.name)}`
    await this.#writeRevision(
      current.metadata.annotations?.[revisionAnnotation] ?? '',
      isFirst ? { type: 'Progressing', status: 'True', reason: 'FoundNewReplicaSet', message } : undefined,
    )
    return current
  }

  condition(type: string): ConditionView | undefined {
    return findStatusCondition(this.#deployment.status?.conditions, type)
  }

  async #createSet(revision: bigint): Promise<ReplicaSetView> {
    const { client, events } = this.#context
    const deployment = this.#deployment
    const { metadata, spec } = deployment
    const hash = hashPodTemplate(spec!.template!, deployment.status?.collisionCount ?? 0)
    const name = `${metadata.name.slice(0, longestName - 1 - hash.length)}-${hash}`
    const labels = { ...spec?.template?.metadata?.labels, [templateHashLabel]: hash }
    const selector = spec?.selector as LabelSelector | undefined
    const replicas = newReplicaSetSize(deployment, this.#sets, 0)
    const set = {
      metadata: {
        name,
        namespace: metadata.namespace,
        labels,
        annotations: withReplicaCounts(newReplicaSetAnnotations({}, deployment, revision), deployment),
        ownerReferences: [controllerReference(Deployment, deployment)],
      },
      spec: {
        replicas,
        minReadySeconds: spec?.minReadySeconds ?? 0,
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [templateHashLabel]: hash } },
        template: { ...spec?.template, metadata: { ...spec?.template?.metadata, labels } },
      },
    }
    let made: ReplicaSetView
    try {
      made = await client.create(ReplicaSet, set as unknown as DeepReadonly<ReplicaSet>)
    } catch (error) {
      if (isAlreadyExists(error)) return await this.#resolveCollision(name, error)
      if (!isNamespaceTerminating(error)) await this.#reportFailure(name, error as Error)
      throw error
    }
    this.#sets = [...this.#sets, made]
    if (replicas > 0)
      events.normal(deployment, 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${replicas}`)
    const message = `Created new replica set ${JSON.stringify(name)}`
    const isTimed = progressDeadline(deployment) !== undefined
    await this.#writeRevision(
      String(revision),
      isTimed ? { type: 'Progressing', status: 'True', reason: 'NewReplicaSetCreated', message } : undefined,
    )
    return made
  }

  /** Handles a name conflict: either the ReplicaSet is ours and not cached yet, or another template has the same hash. */
  async #resolveCollision(name: string, cause: unknown): Promise<ReplicaSetView> {
    const { client } = this.#context
    const { metadata, spec, status } = this.#deployment
    const found = await client.get(
      ReplicaSet,
      { namespace: metadata.namespace ?? '', name },
      { cached: false },
    )
    if (
      found &&
      getControllerOf(found)?.uid === metadata.uid &&
      isSameTemplate(found.spec?.template, spec?.template)
    ) {
      this.#sets = [...this.#sets, found]
      return found
    }
    const collisionCount = (status?.collisionCount ?? 0) + 1
    await this.writeStatus({ ...status, collisionCount })
    throw cause
  }

  async #reportFailure(name: string, { message: problem }: Error): Promise<void> {
    const message = `Failed to create new replica set ${JSON.stringify(name)}: ${problem}`
    this.#context.events.warning(this.#deployment, 'ReplicaSetCreateError', message)
    if (progressDeadline(this.#deployment) === undefined) return
    await this.setConditions({
      type: 'Progressing',
      status: 'False',
      reason: 'ReplicaSetCreateError',
      message,
    })
  }

  async #writeRevision(revision: string, update: ConditionUpdate | undefined): Promise<void> {
    const { metadata, status } = this.#deployment
    const annotations = { ...metadata.annotations, [revisionAnnotation]: revision }
    const conditions = update && setCondition(status?.conditions ?? [], update, this.now)
    if (metadata.annotations?.[revisionAnnotation] === revision && !conditions) return
    await this.writeStatus({ ...status, ...(conditions && { conditions }) }, annotations)
  }

  async setConditions(update: ConditionUpdate): Promise<void> {
    const { status } = this.#deployment
    await this.writeStatus({
      ...status,
      conditions: setCondition(status?.conditions ?? [], update, this.now),
    })
  }

  async writeStatus(status: object, annotations?: Readonly<Record<string, string>>): Promise<void> {
    const { metadata } = this.#deployment
    this.#deployment = await this.#context.client.updateStatus(Deployment, {
      ...this.#deployment,
      metadata: { ...metadata, ...(annotations && { annotations }) },
      status,
    } as DeploymentView)
  }

  /** Scales ReplicaSets and records events. Resolves with whether any size changed. */
  async resize(resizes: readonly Resize[], options: { readonly annotate?: boolean } = {}): Promise<boolean> {
    const { events } = this.#context
    let isChanged = false
    for (const { set, to } of resizes) {
      const from = sizeOf(set)
      const before = set.metadata.annotations ?? {}
      const annotations = withReplicaCounts(before, this.#deployment)
      if (from === to && (!options.annotate || deepEqual(annotations, before))) continue
      await this.#updateSet(set, { annotations, replicas: to })
      if (from === to) continue
      isChanged = true
      const { name } = set.metadata
      const way = from < to ? 'up' : 'down'
      const message = `Scaled ${way} replica set ${name} from ${from} to ${to}`
      events.normal(this.#deployment, 'ScalingReplicaSet', message)
    }
    return isChanged
  }

  async #updateSet(
    set: ReplicaSetView,
    change: {
      readonly annotations: Readonly<Record<string, string>>
      readonly replicas?: number
      readonly minReadySeconds?: number
    },
  ): Promise<ReplicaSetView> {
    const { annotations, ...spec } = change
    const updated = await this.#context.client.update(ReplicaSet, {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, ...spec },
    } as ReplicaSetView)
    this.#sets = this.#sets.map(other => (other.metadata.uid === set.metadata.uid ? updated : other))
    return updated
  }

  /** Deletes the oldest scaled-down ReplicaSets beyond `revisionHistoryLimit`. */
  async cleanUp(): Promise<void> {
    const { client } = this.#context
    const limit = this.#deployment.spec?.revisionHistoryLimit ?? 10
    const alive = this.old.filter(({ metadata }) => !metadata.deletionTimestamp)
    const surplus = [...alive]
      .sort((a, b) => compareRevisions(a, b) || byCreation(a, b))
      .slice(0, Math.max(0, alive.length - limit))
    for (const set of surplus) {
      const { namespace = '', name, generation = 0 } = set.metadata
      const isSettled = generation <= (set.status?.observedGeneration ?? 0)
      if (isActive(set) || (set.status?.replicas ?? 0) > 0 || !isSettled) continue
      try {
        await client.delete(ReplicaSet, { namespace, name })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
  }
}
