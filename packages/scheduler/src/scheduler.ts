import { Node, Pod } from '@coxswain/api/core/v1'
import { deepEqual, type Kind } from '@coxswain/apimachinery'
import type { Client } from '@coxswain/client'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import { ClusterState } from './cluster-state.ts'
import { type Attempt, describeFailure, type Failure, findNode } from './cycle.ts'
import type { Extender } from './extender.ts'
import type { NodeInfo } from './node-info.ts'
import { Nominations } from './nominations.ts'
import { PermitRoom } from './permit-room.ts'
import type { QueuedPod, SchedulerHandle, Verdict } from './plugin.ts'
import type { PodInfo, PodView } from './pod-info.ts'
import { PodStatusWriter } from './pod-status.ts'
import { type CompiledProfile, compileProfile, type Profile } from './profile.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { WatchedKinds } from './watched-kinds.ts'

export interface SchedulerSettings {
  readonly client: Client
  readonly env: Env
  readonly events: EventRecorder
  readonly profiles: readonly Profile[]
  readonly extenders?: readonly Extender[]
  /** Kinds that plug-ins of one's own read. */
  readonly kinds?: readonly Kind[]
  /** 0 chooses by the size of the cluster. @default 0 */
  readonly percentageOfNodesToScore?: number
  /** Milliseconds. @default 1000 */
  readonly initialBackoff?: number
  /** @default 10000 */
  readonly maxBackoff?: number
}

/** Others get a turn when scheduling has gone on for so many milliseconds. */
const longestTurn = 5

/** Chooses a node for every pod that has none and is meant for one of its profiles. */
export class Scheduler {
  readonly #settings: SchedulerSettings
  readonly #profiles: ReadonlyMap<string, CompiledProfile>
  readonly #watched: WatchedKinds
  readonly #state = new ClusterState()
  readonly #nominations = new Nominations()
  readonly #permits: PermitRoom
  readonly #queue: SchedulingQueue
  readonly #status: PodStatusWriter
  readonly #handle: SchedulerHandle
  readonly #position = { next: 0 }

  constructor(settings: SchedulerSettings) {
    const { client, env, events } = settings
    this.#settings = settings
    this.#profiles = new Map(
      settings.profiles.map(profile => [profile.schedulerName, compileProfile(profile)]),
    )
    this.#watched = new WatchedKinds(client, env, settings.kinds)
    this.#permits = new PermitRoom(env.clock)
    this.#status = new PodStatusWriter(client, env.clock, events)
    this.#handle = {
      env,
      client,
      get: (kind, key) => this.#watched.get(kind, key),
      list: (kind, namespace) => this.#watched.list(kind, namespace),
      allow: uid => this.#permits.allow(uid),
      reject: (uid, reason) => this.#permits.reject(uid, reason),
    }
    const first = [...this.#profiles.values()][0]
    const before = first?.at('before')[0]?.before ?? ((a, b) => a.since < b.since)
    this.#queue = new SchedulingQueue({
      clock: env.clock,
      before,
      admit: pod => this.#admit(pod),
      pluginOf: (pod, name) => this.#profileOf(pod)?.byName.get(name),
      ...(settings.initialBackoff !== undefined && { initialBackoff: settings.initialBackoff }),
      ...(settings.maxBackoff !== undefined && { maxBackoff: settings.maxBackoff }),
    })
    this.#listen()
  }

  /** Schedules until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await using group = new TaskGroup(signal)
    group.spawn(cancel => this.#watched.run(cancel))
    await this.#watched.synced(signal)
    const stop = () => this.#queue.close()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const { clock } = this.#settings.env
    let turn = clock.monotonic()
    for (let next = await this.#queue.pop(); next; next = await this.#queue.pop()) {
      await this.#schedule(next, group)
      if (clock.monotonic() - turn < longestTurn) continue
      await clock.sleep(0)
      turn = clock.monotonic()
    }
    signal.removeEventListener('abort', stop)
  }

  #profileOf(pod: PodView): CompiledProfile | undefined {
    return this.#profiles.get(pod.spec.schedulerName ?? 'default-scheduler')
  }

  #admit(pod: PodView): Verdict | undefined {
    for (const plugin of this.#profileOf(pod)?.at('preEnqueue') ?? []) {
      const verdict = plugin.preEnqueue(pod, this.#handle)
      if (verdict) return { ...verdict, plugin: plugin.name }
    }
    return undefined
  }

  #listen(): void {
    this.#watched.addHandler(Pod, {
      onAdd: pod => this.#podChanged(undefined, pod),
      onUpdate: (old, pod) => this.#podChanged(old, pod),
      onDelete: pod => this.#podGone(pod),
    })
    this.#watched.addHandler(Node, {
      onAdd: node => {
        this.#state.setNode(node)
        this.#queue.move({ resource: 'Node', action: 'add', object: node })
      },
      onUpdate: (old, node) => {
        this.#state.setNode(node)
        this.#queue.move({ resource: 'Node', action: 'update', old, object: node })
      },
      onDelete: node => {
        this.#state.deleteNode(node.metadata.name)
        this.#queue.move({ resource: 'Node', action: 'delete', old: node })
      },
    })
    for (const kind of this.#watched.kinds) {
      if (kind === Pod || kind === Node) continue
      const resource = kind.kind
      this.#watched.addHandler(kind, {
        onAdd: object => this.#queue.move({ resource, action: 'add', object }),
        onUpdate: (old, object) => this.#queue.move({ resource, action: 'update', old, object }),
        onDelete: old => this.#queue.move({ resource, action: 'delete', old }),
      })
    }
  }

  #podChanged(old: PodView | undefined, pod: PodView): void {
    const { uid } = pod.metadata
    if (isFinished(pod)) {
      this.#podGone(pod)
      return
    }
    if (pod.spec.nodeName) {
      this.#queue.done(uid)
      this.#nominations.delete(uid)
      this.#state.setPod(pod)
      const isNew = !old?.spec.nodeName
      this.#queue.move({
        resource: 'Pod',
        action: isNew ? 'add' : 'update',
        object: pod,
        ...(!isNew && { old }),
      })
      return
    }
    if (!this.#profileOf(pod) || this.#state.isAssumed(uid)) return
    if (!old) this.#queue.add(pod)
    else if (isChanged(old, pod)) this.#queue.update(old, pod)
    const promised = pod.status?.nominatedNodeName
    const info = this.#queue.get(uid)
    if (info && promised) this.#nominations.set(info, promised)
  }

  #podGone(pod: PodView): void {
    const { uid } = pod.metadata
    this.#queue.delete(uid)
    this.#nominations.delete(uid)
    this.#permits.reject(uid, 'pod deleted')
    this.#state.deletePod(uid)
    if (pod.spec.nodeName) this.#queue.move({ resource: 'Pod', action: 'delete', old: pod })
  }

  async #schedule(queued: QueuedPod, group: TaskGroup): Promise<void> {
    const { pod } = queued
    const profile = this.#profileOf(pod.pod)
    if (!profile || pod.pod.metadata.deletionTimestamp || this.#state.isAssumed(pod.uid)) {
      this.#queue.done(pod.uid)
      return
    }
    const attempt: Attempt = {
      pod,
      profile,
      nodes: this.#state.nodes(),
      handle: this.#handle,
      nominations: this.#nominations,
      data: new Map(),
      skipped: new Set(),
    }
    try {
      if (attempt.nodes.length === 0)
        return await this.#fail(pod, 'Unschedulable', 'no nodes available to schedule pods', [''])
      const result = await findNode(attempt, {
        random: this.#settings.env.random,
        extenders: this.#settings.extenders ?? [],
        percentageOfNodesToScore: this.#settings.percentageOfNodesToScore ?? 0,
        position: this.#position,
      })
      if (result.kind === 'failure') await this.#makeRoom(attempt, result)
      else await this.#place(attempt, result.node, group)
    } catch (error) {
      await this.#fail(pod, 'SchedulerError', (error as Error).message, [])
    }
  }

  /** No node: less important pods may have to leave, or the pod has to wait. */
  async #makeRoom(attempt: Attempt, failure: Failure): Promise<void> {
    const { pod, nodes, profile } = attempt
    const verdicts =
      failure.preFilter === undefined
        ? failure.verdicts
        : new Map(nodes.map(({ name }) => [name, failure.preFilter!]))
    const messages: string[] = []
    let nominated: string | undefined
    for (const plugin of profile.at('postFilter')) {
      const { nominatedNode, message } = await plugin.postFilter(attempt, verdicts)
      if (message !== '') messages.push(message)
      if (nominatedNode === undefined) continue
      nominated = nominatedNode
      break
    }
    if (nominated !== undefined) this.#nominations.set(pod, nominated)
    const text = describeFailure(failure, nodes.length, messages.join(', '))
    await this.#fail(pod, 'Unschedulable', text, failure.refusedBy, nominated)
  }

  async #fail(
    pod: PodInfo,
    reason: 'Unschedulable' | 'SchedulerError',
    message: string,
    refusedBy: readonly string[],
    nominatedNode?: string,
  ): Promise<void> {
    this.#queue.failed(pod.uid, refusedBy)
    if (!this.#queue.get(pod.uid)) return
    await this.#status.unscheduled(pod.pod, { reason, message, nominatedNode })
  }

  /** The pod counts as being on `node` at once; that it really gets there is seen to beside the next attempts. */
  async #place(attempt: Attempt, node: NodeInfo, group: TaskGroup): Promise<void> {
    const { pod, profile } = attempt
    this.#state.assume(pod, node.name)
    for (const plugin of profile.at('reserve')) {
      const verdict = plugin.reserve(attempt, node)
      if (verdict) return await this.#withdraw(attempt, node, { ...verdict, plugin: plugin.name })
    }
    const waits: number[] = []
    for (const plugin of profile.at('permit')) {
      const answer = plugin.permit(attempt, node)
      if (answer === undefined) continue
      if ('wait' in answer) waits.push(answer.wait)
      else return await this.#withdraw(attempt, node, { ...answer, plugin: plugin.name })
    }
    const permitted = waits.length === 0 ? undefined : this.#permits.enter(pod.uid, Math.max(...waits))
    group.spawn(async () => {
      let verdict: Verdict | undefined
      try {
        verdict = await permitted
        verdict ??= await this.#bind(attempt, node)
      } catch (error) {
        verdict = { code: 'Error', reasons: [`binding rejected: ${(error as Error).message}`] }
      }
      if (verdict) return await this.#withdraw(attempt, node, verdict)
      this.#queue.done(pod.uid)
      this.#nominations.delete(pod.uid)
      this.#status.scheduled(pod.pod, node.name)
      for (const plugin of profile.at('postBind')) plugin.postBind(attempt, node)
    })
  }

  async #bind(attempt: Attempt, node: NodeInfo): Promise<Verdict | undefined> {
    const { profile, pod } = attempt
    for (const plugin of profile.at('preBind')) {
      const verdict = await plugin.preBind(attempt, node)
      if (verdict) return { ...verdict, plugin: plugin.name }
    }
    for (const extender of this.#settings.extenders ?? []) {
      if (!extender.canBind || !extender.isInterestedIn(pod.pod)) continue
      await extender.bind(pod.pod, node.name)
      return undefined
    }
    for (const plugin of profile.at('bind')) if (await plugin.bind(attempt, node)) return undefined
    return { code: 'Error', reasons: ['no plugin of the profile binds pods'] }
  }

  /** The pod does not get to `node` after all. */
  async #withdraw(attempt: Attempt, node: NodeInfo, verdict: Verdict): Promise<void> {
    const { pod, profile } = attempt
    for (const plugin of [...profile.at('unreserve')].reverse()) plugin.unreserve(attempt, node)
    this.#state.forget(pod.uid)
    this.#queue.move({ resource: 'Pod', action: 'delete', old: pod.pod })
    const isError = verdict.code === 'Error'
    const refusedBy = isError || verdict.plugin === undefined ? [] : [verdict.plugin]
    const reason = isError ? 'SchedulerError' : 'Unschedulable'
    await this.#fail(pod, reason, verdict.reasons.join(', '), refusedBy)
  }
}

function isFinished({ status }: PodView): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Whether anything changed that a plug-in could look at; what the scheduler itself writes to the status is not. */
function isChanged(old: PodView, pod: PodView): boolean {
  const { labels, annotations, ownerReferences, deletionTimestamp } = pod.metadata
  const before = old.metadata
  return !(
    deepEqual(old.spec, pod.spec) &&
    deepEqual(before.labels, labels) &&
    deepEqual(before.annotations, annotations) &&
    deepEqual(before.ownerReferences, ownerReferences) &&
    before.deletionTimestamp === deletionTimestamp
  )
}
