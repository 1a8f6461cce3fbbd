import { isPodReady, isPodTerminal, type PodView } from '@coxswain/kinds'
import { type ReconcileContext, slowStart } from '@coxswain/runtime'
import { areClaimsOwned, hasStaleClaims, type Member, ownClaims } from './claims.ts'
import { isInRange, newPod, ordinalOf, replicasOf, type StatefulSetView, startOf } from './identity.ts'
import { completeClaims, createMember, deleteMember, repairMember } from './members.ts'
import { choosePodsToDelete, isUnavailable } from './pods-to-delete.ts'
import type { Revisions } from './revisions.ts'

/** Whether pods of later ordinals have to wait for this one. */
type Turn = 'next' | 'wait'

/** One reconciliation of a StatefulSet: moves its pods one step towards the spec. */
export class Rollout {
  readonly #context: ReconcileContext
  readonly #set: StatefulSetView
  readonly #revisions: Revisions
  readonly #listPods: () => Promise<readonly PodView[]>
  readonly #now: number

  constructor(
    context: ReconcileContext,
    set: StatefulSetView,
    parts: { readonly revisions: Revisions; readonly listPods: () => Promise<readonly PodView[]> },
  ) {
    this.#context = context
    this.#set = set
    this.#revisions = parts.revisions
    this.#listPods = parts.listPods
    this.#now = context.clock.now()
  }

  /** Scales first; updates only when all desired pods exist and the condemned ones are deleted. */
  async step(): Promise<void> {
    const set = this.#set
    const { replicas, condemned } = await this.#sort()
    const ordinals = Array.from({ length: replicasOf(set) }, (_, index) => startOf(set) + index)
    if ((await this.#forEach(ordinals, each => this.#keep(each, replicas.get(each)))) === 'wait') return
    const fix = async (member: Member): Promise<Turn> => {
      if (!(await areClaimsOwned(this.#context, set, member))) await ownClaims(this.#context, set, member)
      return 'next'
    }
    if ((await this.#forEach(condemned, fix)) === 'wait') return
    const last = condemned.findLast(({ pod }) => this.#isUnavailable(pod))
    if ((await this.#forEach(condemned, each => this.#remove(each, last))) === 'wait') return
    if (set.spec?.updateStrategy?.type === 'OnDelete') return
    const { replicas: present } = await this.#sort()
    for (const member of choosePodsToDelete(set, present, {
      revision: this.#revisions.update.name,
      now: this.#now,
    }))
      await deleteMember(this.#context, set, member)
  }

  /** The pods within the range of ordinals, by ordinal, and the condemned ones, highest first. */
  async #sort(): Promise<{
    readonly replicas: ReadonlyMap<number, PodView>
    readonly condemned: readonly Member[]
  }> {
    const replicas = new Map<number, PodView>()
    const condemned: Member[] = []
    for (const pod of await this.#listPods()) {
      const ordinal = ordinalOf(this.#set, pod)
      if (ordinal === undefined) continue
      if (isInRange(this.#set, ordinal)) replicas.set(ordinal, pod)
      else condemned.push({ pod, ordinal })
    }
    return { replicas, condemned: condemned.sort((a, b) => b.ordinal - a.ordinal) }
  }

  get #isOrdered(): boolean {
    return this.#set.spec?.podManagementPolicy !== 'Parallel'
  }

  /** In order, each waiting for the previous ones, or all in growing batches. */
  async #forEach<T>(items: readonly T[], action: (item: T) => Promise<Turn>): Promise<Turn> {
    if (!this.#isOrdered) {
      const { error } = await slowStart(items.length, index => action(items[index] as T))
      if (error !== undefined) throw error
      return 'next'
    }
    for (const item of items) if ((await action(item)) === 'wait') return 'wait'
    return 'next'
  }

  #isUnavailable(pod: PodView): boolean {
    return isUnavailable(this.#set, pod, this.#now)
  }

  /** Ensures that the pod of an ordinal exists and is healthy. */
  async #keep(ordinal: number, pod: PodView | undefined): Promise<Turn> {
    const tools = this.#context
    const set = this.#set
    if (!pod) {
      const member = { pod: this.#newPod(ordinal), ordinal }
      if (!(await hasStaleClaims(tools, set, member))) await createMember(tools, set, member)
      return 'wait'
    }
    const member = { pod, ordinal }
    if (isPodTerminal(pod)) {
      if (!pod.metadata.deletionTimestamp) await deleteMember(tools, set, member)
      return 'wait' // the replacement is created once this one is deleted
    }
    if (pod.status?.phase === 'Pending') await completeClaims(tools, set, member)
    const isWell = pod.status?.phase === 'Running' && isPodReady(pod) && !this.#isUnavailable(pod)
    if (!isWell && this.#isOrdered) return 'wait'
    await repairMember(tools, set, member)
    return 'next'
  }

  #newPod(ordinal: number): PodView {
    const { updateStrategy } = this.#set.spec ?? {}
    const { current, update } = this.#revisions
    const start = startOf(this.#set)
    const rolling = updateStrategy?.rollingUpdate
    const isOld = rolling
      ? ordinal < start + (rolling.partition ?? 0)
      : updateStrategy?.type !== 'OnDelete' && ordinal < start + (this.#set.status?.currentReplicas ?? 0)
    return newPod(this.#set, ordinal, isOld ? current : update)
  }

  /** In order, an unhealthy pod is deleted only if it is the lowest of them (`last`); the others may recover. */
  async #remove(member: Member, last: Member | undefined): Promise<Turn> {
    const { pod } = member
    if (pod.metadata.deletionTimestamp) return 'wait'
    if (this.#isOrdered && this.#isUnavailable(pod) && member !== last) return 'wait'
    await deleteMember(this.#context, this.#set, member)
    return 'wait'
  }
}
