import { Lease } from '@coxswain/api/coordination/v1'
import { Node } from '@coxswain/api/core/v1'
import { formatMicroTime, formatTime } from '@coxswain/apimachinery'
import { retryOnConflict } from '@coxswain/client'
import type { Clock } from '@coxswain/kit'
import type { OperatorClient, TaskContext } from '@coxswain/runtime'

/** What a node says of itself. */
export interface NodeDescription {
  readonly osImage: string
  /** `NAME://VERSION` */
  readonly runtimeVersion: string
  /** Of the Ready condition. */
  readonly readyMessage: string
  /** Where its Pods are reached. */
  readonly address?: string
}

const leaseNamespace = 'kube-node-lease'
const leaseSeconds = 40
const heartbeat = 10_000

/** Registers the nodes and renews their leases, until the signal aborts. */
export async function keepNodesAlive(
  { client, env, signal }: Pick<TaskContext, 'client' | 'env' | 'signal'>,
  names: readonly string[],
  description: NodeDescription,
): Promise<void> {
  // Others write to the same objects, and the server may be away: neither is a reason to give up.
  const attempt = async (what: (name: string) => Promise<void>) => {
    for (const name of names) {
      try {
        await retryOnConflict(env, () => what(name), { signal })
      } catch (error) {
        signal.throwIfAborted()
        env.log.warn('a node could not give its sign of life', { node: name, error })
      }
    }
  }
  await attempt(name => registerNode(client, env.clock, name, description))
  while (!signal.aborted) {
    await attempt(name => renewLease(client, env.clock, name))
    await env.clock.sleep(heartbeat, { signal })
  }
}

async function registerNode(
  client: OperatorClient,
  clock: Clock,
  name: string,
  { osImage, runtimeVersion, readyMessage, address }: NodeDescription,
): Promise<void> {
  const existing = await client.get(Node, { name }, { cached: false })
  const node =
    existing ??
    (await client.create(Node, {
      metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    }))
  const resources = { cpu: '32', memory: '256Gi', pods: '110' }
  const now = formatTime(clock.now())
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  await client.updateStatus(Node, {
    ...node,
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        ...(address === undefined ? [] : [{ type: 'InternalIP' as const, address }]),
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '',
        osImage,
        containerRuntimeVersion: runtimeVersion,
        kubeletVersion: 'v1.36.4',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: readyMessage,
          lastHeartbeatTime: now,
          lastTransitionTime: ready?.status === 'True' ? (ready.lastTransitionTime ?? now) : now,
        },
      ],
    },
  })
}

async function renewLease(client: OperatorClient, clock: Clock, name: string): Promise<void> {
  const renewTime = formatMicroTime(clock.now())
  const lease = await client.get(Lease, { namespace: leaseNamespace, name }, { cached: false })
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime }
  if (lease) await client.update(Lease, { ...lease, spec: { ...lease.spec, ...spec } })
  else await client.create(Lease, { metadata: { namespace: leaseNamespace, name }, spec })
}
