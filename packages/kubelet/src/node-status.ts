import { Lease } from '@coxswain/api/coordination/v1'
import { Node, type NodeCondition, type NodeStatus } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatMicroTime, formatTime } from '@coxswain/apimachinery/time'
import { retryOnConflict } from '@coxswain/client'
import { isNodeReady, keepTransitionTime } from '@coxswain/kinds'
import type { EventRecorder, TaskContext } from '@coxswain/runtime'
import type { NodeFacts } from './container-runtime.ts'

/** What a node reports in its status. */
export interface NodeDescription {
  readonly name: string
  readonly address: string
  /** `NAME://VERSION` */
  readonly runtimeVersion: string
  readonly facts: NodeFacts
  /** The images on the node, with their sizes in bytes. */
  images(): ReadonlyMap<string, number>
}

const leaseNamespace = 'kube-node-lease'
const leaseSeconds = 40
const heartbeat = 10_000
/** How often an unchanged status is written. */
const reportInterval = 300_000
/** The number of nodes that send heartbeats at once: their writes share a commit, and other requests are served in between. */
const groupSize = 25
/** The most images in a status, the kubelet's limit. */
const maxImages = 50

type NodeContext = Pick<TaskContext, 'client' | 'env' | 'events' | 'signal'>

/** Registers the nodes, renews their leases and reports their status, until the signal aborts. */
export async function keepNodesAlive(
  context: NodeContext,
  descriptions: readonly NodeDescription[],
): Promise<void> {
  const { env, signal } = context
  const nodes = descriptions.map(description => new NodeKeeper(context, description))
  const groups: NodeKeeper[][] = []
  for (let at = 0; at < nodes.length; at += groupSize) groups.push(nodes.slice(at, at + groupSize))
  // Conflicts and an unreachable server are retried.
  const attempt = async (group: readonly NodeKeeper[], what: (node: NodeKeeper) => Promise<void>) => {
    const runFor = async (node: NodeKeeper) => {
      try {
        await retryOnConflict(env, () => what(node), { signal })
      } catch (error) {
        signal.throwIfAborted()
        env.log.warn('a node heartbeat failed', { node: node.name, error })
      }
    }
    await Promise.all(group.map(runFor))
  }
  for (const group of groups) await attempt(group, node => node.register())
  while (!signal.aborted) {
    for (const group of groups) {
      await attempt(group, node => node.beat())
      await env.clock.sleep(heartbeat / groups.length, { signal })
    }
  }
}

class NodeKeeper {
  readonly #context: NodeContext
  readonly #description: NodeDescription
  #lease: Lease | undefined
  #reportedAt = Number.NEGATIVE_INFINITY
  #reportedImages = -1
  #isUnschedulable = false

  constructor(context: NodeContext, description: NodeDescription) {
    this.#context = context
    this.#description = description
  }

  get name(): string {
    return this.#description.name
  }

  async register(): Promise<void> {
    const { client } = this.#context
    const { name, facts } = this.#description
    const { operatingSystem = 'linux', architecture = 'amd64' } = facts
    const existing = await client.get(Node, { name }, { cached: false })
    const node =
      existing ??
      (await client.create(Node, {
        metadata: {
          name,
          labels: {
            'beta.kubernetes.io/arch': architecture,
            'beta.kubernetes.io/os': operatingSystem,
            'kubernetes.io/arch': architecture,
            'kubernetes.io/hostname': name,
            'kubernetes.io/os': operatingSystem,
          },
          annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
        },
      }))
    await this.#report(node)
    this.#events.normal(node, 'Starting', 'Starting kubelet.')
    this.#recordChanges(node)
    await this.#renewLease()
  }

  /** Renews the lease; writes the status when it has changed, or was not written for five minutes. */
  async beat(): Promise<void> {
    await this.#renewLease()
    const { client, env } = this.#context
    const node = await client.get(Node, { name: this.name })
    if (!node) return
    const isDue = env.clock.monotonic() - this.#reportedAt >= reportInterval
    const isNew = !isNodeReady(node) || this.#description.images().size !== this.#reportedImages
    if (isDue || isNew) await this.#report(node)
    this.#recordChanges(node)
  }

  get #events(): EventRecorder {
    return this.#context.events.from({ component: 'kubelet', host: this.name })
  }

  /** Records events for what has changed since `before` was read. */
  #recordChanges(before: DeepReadonly<Node>): void {
    const record = (event: string) =>
      this.#events.normal(before, event, `Node ${this.name} status is now: ${event}`)
    if (!isNodeReady(before)) record('NodeReady')
    const isUnschedulable = before.spec?.unschedulable ?? false
    if (isUnschedulable === this.#isUnschedulable) return
    this.#isUnschedulable = isUnschedulable
    record(isUnschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable')
  }

  async #report(node: DeepReadonly<Node>): Promise<void> {
    const { client, env } = this.#context
    const images = this.#description.images()
    const status = makeNodeStatus(node, this.#description, formatTime(env.clock.now()))
    await client.updateStatus(Node, { ...node, status: { ...node.status, ...status } })
    this.#reportedAt = env.clock.monotonic()
    this.#reportedImages = images.size
  }

  async #renewLease(): Promise<void> {
    const { client, env } = this.#context
    const { direct } = client
    const { name } = this
    const renewTime = formatMicroTime(env.clock.now())
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime }
    try {
      this.#lease ??= await direct.get(Lease, { namespace: leaseNamespace, name })
      this.#lease = this.#lease
        ? await direct.update(Lease, { ...this.#lease, spec: { ...this.#lease.spec, ...spec } })
        : await direct.create(Lease, { metadata: { namespace: leaseNamespace, name }, spec })
    } catch (error) {
      // The cached lease is stale.
      this.#lease = undefined
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }
}

/** The status of a healthy kubelet. */
function makeNodeStatus(
  node: DeepReadonly<Node>,
  { name, address, facts, runtimeVersion, images }: NodeDescription,
  now: string,
): NodeStatus {
  const condition = (
    type: string,
    status: 'True' | 'False',
    reason: string,
    message: string,
  ): NodeCondition => {
    const next = { type, status, lastHeartbeatTime: now, lastTransitionTime: now, reason, message }
    return keepTransitionTime(node.status?.conditions, next)
  }
  const known = [
    condition(
      'MemoryPressure',
      'False',
      'KubeletHasSufficientMemory',
      'kubelet has sufficient memory available',
    ),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    ...(facts.isolation === undefined
      ? []
      : [
          facts.isolation === 'namespaces'
            ? condition(
                'ContainersIsolated',
                'True',
                'Namespaces',
                'containers have mount, PID and UTS namespaces',
              )
            : condition(
                'ContainersIsolated',
                'False',
                'NoNamespaces',
                'containers have no namespaces: volumes are in $COXSWAIN_ROOT',
              ),
        ]),
    condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ]
  const others = (node.status?.conditions ?? []).filter(
    ({ type }) => !known.some(condition => condition.type === type),
  )
  return {
    capacity: { ...facts.capacity },
    allocatable: { ...facts.capacity },
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    conditions: [...others.map(other => ({ ...other })), ...known],
    nodeInfo: {
      machineID: facts.machineID ?? '',
      systemUUID: facts.machineID ?? '',
      bootID: facts.bootID ?? '',
      kernelVersion: facts.kernelVersion ?? '',
      osImage: facts.osImage,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion: 'v1.36.4',
      kubeProxyVersion: '',
      operatingSystem: facts.operatingSystem ?? 'linux',
      architecture: facts.architecture ?? 'amd64',
    },
    images: [...images()]
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxImages)
      .map(([image, sizeBytes]) => ({ names: [image], sizeBytes })),
    runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: false } }],
    declaredFeatures: ['RestartAllContainersOnContainerExits'],
  }
}
