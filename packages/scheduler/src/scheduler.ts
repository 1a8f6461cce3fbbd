import { Node, Pod } from '@coxswain/api/core/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Client } from '@coxswain/client'
import { isPodTerminal, type PodView } from '@coxswain/kinds'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import { runBind, runPreBind } from './bind.ts'
import { findNodeChanges, findPodChanges, isChanged } from './changes.ts'
import { ClusterState } from './cluster-state.ts'
import { type Attempt, describeFailure, describeReasons, type Failure, findNode } from './cycle.ts'
import type { Extender } from './extender.ts'
import type { NodeInfo } from './node-info.ts'
import { Nominations } from './nominations.ts'
import type { QueuedPod, SchedulerHandle, Verdict } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import { PodStatusWriter } from './pod-status.ts'
import { PreBindingPods } from './pre-binding-pods.ts'
import { type CompiledProfile, compileProfile, type Profile } from './profile.ts'
import { reserve } from './reserve.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { WaitingPods } from './waiting-pods.ts'
import { WatchedKinds } from './watched-kinds.ts'

export interface SchedulerSettings {
  readonly client: Client
  readonly env: Env
  readonly events: EventRecorder
  readonly profiles: readonly Profile[]
  readonly extenders?: readonly Extender[]
  /** Kinds that your own plug-ins read. */
  readonly kinds?: readonly Kind[]
  /** 0 adapts to the size of the cluster. @default 0 */
  readonly percentageOfNodesToScore?: number
  /** Milliseconds. @default 1000 */
  readonly initialBackoff?: number
  /** @default 10000 */
  readonly maxBackoff?: number
}

/** Milliseconds of scheduling after which other work gets a turn. */
const longestTurn = 5

/** Schedules every pod that is unscheduled and belongs to one of its profiles. */
export class Scheduler {
  readonly #settings: SchedulerSettings
  readonly #profiles: ReadonlyMap<string, CompiledProfile>
  readonly #watched: WatchedKinds
  readonly #state = new ClusterState()
  readonly #nominations = new Nominations()
  readonly #waitingPods: WaitingPods
  readonly #preBinding = new PreBindingPods()
  readonly #queue: SchedulingQueue
  readonly #status: PodStatusWriter
  readonly #handle: SchedulerHandle
  readonly #position = { next: 0 }
  /** Background work beside the attempts. */
  #group: TaskGroup | undefined

  constructor(settings: SchedulerSettings) {
    const { client, env, events } = settings
    this.#settings = settings
    this.#profiles = new Map(
      settings.profiles.map(profile => [profile.schedulerName, compileProfile(profile)]),
    )
    this.#watched = new WatchedKinds(client, env, settings.kinds)
    this.#waitingPods = new WaitingPods(env.clock)
    this.#status = new PodStatusWriter(client, env.clock, events)
    this.#handle = {
      env,
      client,
      events,
      get: (kind, key) => this.#watched.get(kind, key),
      list: (kind, namespace) => this.#watched.list(kind, namespace),
      allow: uid => this.#waitingPods.allow(uid),
      reject: (uid, reason) => this.#waitingPods.reject(uid, reason),
      preempt: uid =>
        this.#waitingPods.preempt(uid) || this.#preBinding.cancel(uid, 'preempted by DefaultPreemption'),
      activate: uid => this.#queue.activate(uid),
      spawn: work => this.#group?.spawn(work),
    }
    const first = [...this.#profiles.values()][0]
    const before = first?.at('before')[0]?.before ?? ((a, b) => a.since < b.since)
    this.#queue = new SchedulingQueue({
      clock: env.clock,
      handle: this.#handle,
      before,
      admit: pod => this.#admit(pod),
      pluginOf: (pod, name) => this.#profileOf(pod)?.byName.get(name),
      ...(settings.initialBackoff !== undefined && { initialBackoff: settings.initialBackoff }),
      ...(settings.maxBackoff !== undefined && { maxBackoff: settings.maxBackoff }),
    })
    this.#listen()
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await using group = new TaskGroup(signal)
    this.#group = group
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
      onDelete: pod => this.#podDeleted(pod),
    })
    this.#watched.addHandler(Node, {
      onAdd: node => {
        this.#state.setNode(node)
        this.#queue.move({ resource: 'Node', action: 'add', object: node })
      },
      onUpdate: (old, node) => {
        this.#state.setNode(node)
        const changes = findNodeChanges(old, node)
        if (changes.size > 0)
          this.#queue.move({ resource: 'Node', action: 'update', old, object: node, changes })
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
    if (isPodTerminal(pod)) {
      this.#podDeleted(pod)
      return
    }
    if (pod.spec.nodeName) {
      this.#queue.done(uid)
      this.#nominations.delete(uid)
      this.#state.setPod(pod)
      if (!old?.spec.nodeName) this.#queue.move({ resource: 'Pod', action: 'add', object: pod })
      else {
        const changes = findPodChanges(old, pod)
        if (changes.size > 0 || isChanged(old, pod))
          this.#queue.move({ resource: 'Pod', action: 'update', old, object: pod, changes })
      }
      return
    }
    if (!this.#profileOf(pod)) return
    if (this.#state.isAssumed(uid)) {
      this.#queue.refresh(pod)
      if (pod.metadata.deletionTimestamp && !old?.metadata.deletionTimestamp) this.#cancelBinding(pod)
      return
    }
    if (!old) this.#queue.add(pod)
    else {
      const changes = findPodChanges(old, pod)
      if (changes.size > 0 || isChanged(old, pod)) this.#queue.update(old, pod, changes)
      else this.#queue.refresh(pod)
    }
    this.#nominate(old, pod)
  }

  /** Nominations made or cleared by other components count as well; ours may not be written yet. */
  #nominate(old: PodView | undefined, pod: PodView): void {
    const { uid } = pod.metadata
    const before = old?.status?.nominatedNodeName
    const nominated = pod.status?.nominatedNodeName
    const info = this.#queue.get(uid)
    if (info && nominated) this.#nominations.set(info, nominated)
    else if (before) this.#nominations.delete(uid)
    if (before && before !== nominated) this.#nominationCleared(old ?? pod)
  }

  /** A nominated pod's resources are available to pods of the same or lower priority. */
  #nominationCleared(old: PodView): void {
    const limit = old.spec.priority ?? 0
    this.#queue.move({ resource: 'Pod', action: 'delete', old }, ({ priority }) => priority <= limit)
  }

  #podDeleted(pod: PodView): void {
    const { uid } = pod.metadata
    const isAssumed = this.#state.isAssumed(uid)
    this.#queue.delete(uid)
    this.#nominations.delete(uid)
    if (isAssumed) this.#cancelBinding(pod)
    else if (this.#state.deletePod(uid)) this.#queue.move({ resource: 'Pod', action: 'delete', old: pod })
    else if (pod.status?.nominatedNodeName) this.#nominationCleared(pod)
  }

  /** A pod was deleted while it was being bound. Its binding will fail, but others need not wait for that. */
  #cancelBinding(pod: PodView): void {
    const { uid } = pod.metadata
    this.#waitingPods.reject(uid, 'removed')
    this.#preBinding.cancel(uid, 'pod does not exist any more')
    this.#state.forget(uid)
    this.#queue.move({ resource: 'Pod', action: 'delete', old: pod })
  }

  async #schedule(queued: QueuedPod, group: TaskGroup): Promise<void> {
    const { pod } = queued
    const profile = this.#profileOf(pod.pod)
    if (!profile || pod.pod.metadata.deletionTimestamp || this.#state.isAssumed(pod.uid)) {
      this.#queue.done(pod.uid)
      if (profile && pod.pod.metadata.deletionTimestamp) this.#status.skipped(pod.pod)
      return
    }
    const attempt: Attempt = {
      pod,
      profile,
      nodes: this.#state.nodes(),
      nodesWithAffinity: this.#state.nodesWithAffinity(),
      handle: this.#handle,
      nominations: this.#nominations,
      extenders: this.#settings.extenders ?? [],
      data: new Map(),
      filters: [],
    }
    try {
      if (attempt.nodes.length === 0)
        return await this.#fail(pod, {
          message: 'no nodes available to schedule pods',
          rejectedBy: [anyEvent],
          nominatedNode: '',
        })
      const result = await findNode(attempt, {
        random: this.#settings.env.random,
        extenders: this.#settings.extenders ?? [],
        percentageOfNodesToScore:
          profile.percentageOfNodesToScore ?? this.#settings.percentageOfNodesToScore ?? 0,
        position: this.#position,
      })
      if (result.kind === 'failure') await this.#runPostFilters(attempt, result)
      else await this.#place(attempt, result.node, group)
    } catch (error) {
      await this.#fail(pod, { message: (error as Error).message, rejectedBy: [], nominatedNode: '' })
    }
  }

  /** No node was found: runs the postFilter plug-ins, or records the failure. */
  async #runPostFilters(attempt: Attempt, failure: Failure): Promise<void> {
    const { pod, nodes, profile } = attempt
    const verdicts =
      failure.preFilter === undefined
        ? failure.verdicts
        : new Map(nodes.map(({ name }) => [name, failure.preFilter!]))
    let messages: string[] = []
    let nominated: string | undefined
    for (const plugin of profile.at('postFilter')) {
      const { nominatedNode, message, isLast } = await plugin.postFilter(attempt, verdicts)
      nominated = nominatedNode ?? nominated
      if (nominatedNode) messages = []
      if (message !== '') messages.push(message)
      if (nominatedNode || isLast) break
    }
    const { rejectedBy, pending } = failure
    const message = describeFailure(failure, nodes.length, messages.join(', '))
    await this.#fail(pod, { message, rejectedBy, pending, nominatedNode: nominated })
  }

  /** If no plug-in rejected the pod, an error occurred. */
  async #fail({ uid }: PodInfo, { message, rejectedBy, pending, nominatedNode }: Rejection): Promise<void> {
    this.#queue.failed(uid, rejectedBy, pending)
    const info = this.#queue.get(uid)
    if (!info) return
    if (nominatedNode) this.#nominations.set(info, nominatedNode)
    else if (nominatedNode === '') this.#nominations.delete(uid)
    const reason = rejectedBy.length > 0 ? 'Unschedulable' : 'SchedulerError'
    const written = await this.#status.unscheduled(info.pod, { reason, message, nominatedNode })
    if (written) this.#queue.refresh(written)
  }

  /** Assumes that the pod is on `node`; binding runs in the background. */
  async #place(attempt: Attempt, node: NodeInfo, group: TaskGroup): Promise<void> {
    const { pod, profile } = attempt
    this.#state.assume(pod, node.name)
    this.#nominations.delete(pod.uid)
    const reserved = reserve(attempt, node)
    if ('code' in reserved) return await this.#unassume(attempt, node, reserved)
    const permitted = reserved.length === 0 ? undefined : this.#waitingPods.wait(pod.uid, reserved)
    group.spawn(async stop => {
      let verdict: Verdict | undefined
      try {
        const willPreBind = profile.at('willPreBind').some(each => each.willPreBind(attempt, node))
        if (willPreBind || permitted) await this.#reportNominated(pod, node.name)
        verdict = (await permitted) ?? (await this.#bind(attempt, node, willPreBind, stop))
      } catch (error) {
        verdict = { code: 'Error', reasons: [(error as Error).message] }
      }
      if (verdict && stop.aborted) return
      if (verdict) return await this.#unassume(attempt, node, verdict)
      this.#queue.done(pod.uid)
      this.#status.scheduled(pod.pod, node.name)
      this.#reportBound(attempt, node)
    })
  }

  #reportBound(attempt: Attempt, node: NodeInfo): void {
    for (const plugin of attempt.profile.at('postBind')) {
      try {
        plugin.postBind(attempt, node)
      } catch (error) {
        this.#settings.env.log.error('postBind failed', { plugin: plugin.name, error })
      }
    }
  }

  /** Nominates the node if binding will take a while. */
  async #reportNominated({ uid, pod }: PodInfo, node: string): Promise<void> {
    const written = await this.#status.expected(this.#queue.get(uid)?.pod ?? pod, node)
    if (written) this.#queue.refresh(written)
  }

  async #bind(attempt: Attempt, node: NodeInfo, mayTakeLong: boolean, stop: AbortSignal) {
    const { uid } = attempt.pod
    this.#queue.binding(uid)
    try {
      const signal = mayTakeLong ? this.#preBinding.add(uid, stop) : stop
      const verdict = await runPreBind(attempt, node, signal)
      if (verdict) return verdict
    } finally {
      this.#preBinding.delete(uid)
    }
    return await runBind(attempt, node)
  }

  /** The pod could not be bound to `node`. */
  async #unassume(attempt: Attempt, node: NodeInfo, verdict: Verdict): Promise<void> {
    const { pod, profile } = attempt
    for (const plugin of [...profile.at('unreserve')].reverse()) await plugin.unreserve(attempt, node)
    this.#state.forget(pod.uid)
    const { code, plugin = anyEvent, reasons } = verdict
    const isError = code === 'Error'
    const { uid } = pod
    this.#queue.move(
      { resource: 'Pod', action: 'delete', old: pod.pod },
      other => isError || other.uid !== uid,
    )
    const message = isError ? reasons.join(', ') : describeReasons([verdict], 1)
    await this.#fail(pod, {
      message,
      rejectedBy: isError ? [] : [plugin],
      ...(code === 'Pending' && { pending: [plugin] }),
      nominatedNode: '',
    })
  }
}

/** Why a pod is not scheduled, for its status and the queue. */
interface Rejection {
  readonly message: string
  readonly rejectedBy: readonly string[]
  readonly pending?: readonly string[] | undefined
  /** Empty clears the nomination. */
  readonly nominatedNode?: string | undefined
}

/** Not a plug-in's name: pods rejected by it are retried after any event. */
const anyEvent = ''
