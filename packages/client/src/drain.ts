/** `kubectl cordon`, `uncordon` and `drain`, with kubectl's rules. */
import type { ObjectKey, OwnerReference } from '@coxswain/apimachinery/meta'
import {
  formatKey,
  isForbidden,
  isNotFound,
  isTooManyRequests,
  keyOf,
} from '@coxswain/apimachinery/wire-format'
import type { Env } from '@coxswain/kit'
import type { Client, ObjectClient } from './client.ts'
import { ClientError } from './errors.ts'
import { type DynamicObject, kindFor } from './kind-for.ts'
import type { CallOptions } from './options.ts'
import { wait } from './wait.ts'

const Node = kindFor({ version: 'v1', kind: 'Node', resource: 'nodes', namespaced: false })
const Pod = kindFor({ version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true })
const DaemonSet = kindFor({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  namespaced: true,
})

/** Marks a node as unschedulable. Nothing is sent when it already is. */
export async function cordon(client: Pick<ObjectClient, 'get' | 'patch'>, node: string): Promise<void> {
  await setUnschedulable(client, node, { unschedulable: true })
}

/** Marks a node as schedulable again. */
export async function uncordon(client: Pick<ObjectClient, 'get' | 'patch'>, node: string): Promise<void> {
  await setUnschedulable(client, node, { unschedulable: false })
}

async function setUnschedulable(
  client: Pick<ObjectClient, 'get' | 'patch'>,
  name: string,
  { unschedulable }: { readonly unschedulable: boolean },
): Promise<void> {
  const node = (await client.get(Node, { name })) as
    | { readonly spec?: { readonly unschedulable?: boolean } }
    | undefined
  if ((node?.spec?.unschedulable ?? false) === unschedulable && node) return
  // The server rejects a node that does not exist.
  await client.patch(Node, { name }, { spec: { unschedulable: unschedulable || null } })
}

/** Options of {@link evict}. */
export interface EvictOptions extends CallOptions {
  /** @default the Pod's own */
  readonly gracePeriodSeconds?: number
  readonly dryRun?: boolean
}

/**
 * Requests the eviction of a Pod. A PodDisruptionBudget that does not allow it now is a `StatusError` of 429
 * (`isTooManyRequests`); a Pod that does not exist is one of 404.
 */
export async function evict(
  client: Pick<Client, 'subresource'>,
  pod: ObjectKey,
  options: EvictOptions = {},
): Promise<void> {
  const { gracePeriodSeconds, dryRun, ...call } = options
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: pod,
    ...(gracePeriodSeconds !== undefined && { deleteOptions: { gracePeriodSeconds } }),
  }
  await client.subresource(Pod, pod, 'eviction').create(eviction, { ...call, ...(dryRun && { dryRun }) })
}

/** Options of {@link drain}, as of `kubectl drain`. */
export interface DrainOptions {
  /** Ignores Pods of DaemonSets; otherwise they prevent the drain. @default false */
  readonly ignoreDaemonSets?: boolean
  /** Pods with emptyDir volumes are evicted, and their data lost; otherwise they prevent the drain. @default false */
  readonly deleteEmptyDirData?: boolean
  /** Pods that no controller will replace are evicted; otherwise they prevent the drain. @default false */
  readonly force?: boolean
  readonly gracePeriodSeconds?: number
  /** Only these Pods. */
  readonly podSelector?: string
  /** The timeout of the whole drain in milliseconds. @default no limit */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** Milliseconds after which an eviction that a budget did not allow is retried. */
const evictionRetry = 5_000
const deletionPoll = 1_000

/**
 * Cordons a node, evicts its Pods as PodDisruptionBudgets allow it, and resolves when they are deleted. Mirror Pods stay.
 * @throws ClientError `CannotDrain` before any eviction when there are Pods that the options do not allow to evict, and
 *   `WaitTimeout`
 */
export async function drain(
  { client, env }: { readonly client: Client; readonly env: Pick<Env, 'clock' | 'random'> },
  node: string,
  options: DrainOptions = {},
): Promise<void> {
  const { podSelector, timeout, signal: outer } = options
  const deadline = new AbortController()
  const timer =
    timeout === undefined
      ? undefined
      : env.clock.after(timeout, () => {
          const text = `node ${node} is not drained after ${timeout} ms`
          deadline.abort(new ClientError('WaitTimeout', text))
        })
  const signal = outer ? AbortSignal.any([outer, deadline.signal]) : deadline.signal
  try {
    await cordon(client, node)
    const fieldSelector = `spec.nodeName=${node}`
    const selectors = { fieldSelector, ...(podSelector !== undefined && { labelSelector: podSelector }) }
    const pods: DrainedPod[] = []
    for await (const pod of client.listAll(Pod, { ...selectors, signal })) pods.push(pod as DrainedPod)
    const chosen = await choosePods(client, pods, options)
    const evictAndWait = async (pod: DrainedPod): Promise<void> => {
      await wait.poll(env, () => tryEvict(client, pod, { ...options, signal }), {
        interval: evictionRetry,
        signal,
      })
      await wait.poll(env, () => isDeleted(client, pod, signal), { interval: deletionPoll, signal })
    }
    await Promise.all(chosen.map(evictAndWait))
  } finally {
    timer?.cancel()
    // A failure aborts the others.
    deadline.abort()
  }
}

interface DrainedPod extends DynamicObject {
  spec?: { volumes?: { emptyDir?: object }[] }
  status?: { phase?: string }
}

/** Whether the eviction was accepted, or the Pod is deleted. */
async function tryEvict(
  client: Client,
  pod: DrainedPod,
  { gracePeriodSeconds, signal }: DrainOptions,
): Promise<boolean> {
  try {
    // Without a timeout of its own: the client retries evictions that a budget does not allow.
    const call = { timeout: 0, ...(signal && { signal }) }
    await evict(client, keyOf(pod), {
      ...call,
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    })
    return true
  } catch (error) {
    if (isNotFound(error)) return true
    // In a namespace that is terminating the Pod is deleted anyway.
    if (
      isTooManyRequests(error) ||
      (isForbidden(error) && /because it is being terminated/.test(String(error)))
    )
      return false
    throw error
  }
}

async function isDeleted(client: Client, pod: DrainedPod, signal: AbortSignal): Promise<boolean> {
  const found = await client.get(Pod, keyOf(pod), { signal })
  return found?.metadata.uid !== pod.metadata.uid
}

async function choosePods(
  client: Client,
  pods: readonly DrainedPod[],
  options: DrainOptions,
): Promise<readonly DrainedPod[]> {
  const chosen: DrainedPod[] = []
  const obstacles = new Map<string, string[]>()
  for (const pod of pods) {
    const verdict = await judge(client, pod, options)
    if (verdict === 'evict') chosen.push(pod)
    else if (verdict !== 'leave')
      obstacles.set(verdict, [...(obstacles.get(verdict) ?? []), formatKey(keyOf(pod))])
  }
  if (obstacles.size === 0) return chosen
  const texts = [...obstacles].map(([what, names]) => `cannot delete ${what}: ${names.join(', ')}`)
  throw new ClientError('CannotDrain', texts.sort().join('\n'))
}

/** `evict`, `leave`, or why the Pod cannot be evicted. The filters and their order are kubectl's. */
async function judge(client: Client, pod: DrainedPod, options: DrainOptions): Promise<string> {
  const { metadata, spec, status } = pod
  const controller = metadata.ownerReferences?.find(({ controller: isController }) => isController)
  const isFinished = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (controller?.kind === 'DaemonSet' && !isFinished) {
    const obstacle = await judgeDaemonSet(client, { pod, controller }, options)
    if (obstacle) return obstacle
  }
  if (metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) return 'leave'
  if (isFinished) return 'evict'
  if (!options.deleteEmptyDirData && spec?.volumes?.some(({ emptyDir }) => emptyDir))
    return 'Pods with local storage (use deleteEmptyDirData to override)'
  if (!controller && !options.force) return 'Pods that declare no controller (use force to override)'
  return 'evict'
}

async function judgeDaemonSet(
  client: Client,
  { pod, controller }: { readonly pod: DrainedPod; readonly controller: OwnerReference },
  { force, ignoreDaemonSets }: DrainOptions,
): Promise<string | undefined> {
  const { namespace = '' } = pod.metadata
  const daemonSet = await client.get(DaemonSet, { namespace, name: controller.name })
  if (!daemonSet) return force ? undefined : 'Pods whose DaemonSet does not exist (use force to override)'
  return ignoreDaemonSets ? 'leave' : 'DaemonSet-managed Pods (use ignoreDaemonSets to ignore)'
}
