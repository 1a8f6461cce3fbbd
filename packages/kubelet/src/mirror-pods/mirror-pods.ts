import { Node, Pod } from '@coxswain/api/core/v1'
import type { CreateOf } from '@coxswain/apimachinery/kinds'
import { type DeepReadonly, findStatusCondition } from '@coxswain/apimachinery/meta'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import type { PodView } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext, requeueAfter } from '@coxswain/runtime'
import { isMirrorPod, mirrorAnnotation, mirrorName, mirrorNamespace } from './mirror-pod.ts'

/** A component that runs on a node independently of the API server, and has a mirror Pod there. */
export interface StaticPod {
  /** The Pod's name is this and the node's. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** Its image, and the arguments that it was started with. */
  readonly image: string
  readonly command: readonly string[]
}

/** Options of {@link createMirrorPods}. */
export interface MirrorPodsOptions {
  readonly node: string
  readonly pods: readonly StaticPod[]
  /** Labels to add to the node, once. @default none */
  readonly nodeLabels?: Readonly<Record<string, string>>
}

const hashAnnotation = 'kubernetes.io/config.hash'
const seenAnnotation = 'kubernetes.io/config.seen'
const sourceAnnotation = 'kubernetes.io/config.source'

/**
 * Mirror Pods of components that run on a node, as the kubelet creates them for static Pods: created when the node exists, again when
 * they are deleted, and running for as long as this operator runs.
 */
export function createMirrorPods(options: MirrorPodsOptions): Operator {
  const { node: nodeName, pods, nodeLabels } = options
  const byName = new Map(pods.map(pod => [mirrorName(pod.name, nodeName), pod]))
  const keys = [...byName.keys()].map(name => ({ namespace: mirrorNamespace, name }))
  return defineOperator('mirror-pods', operator => {
    const life: Life = { startedAt: undefined, written: new Set(), labelled: new Set() }
    operator
      .controller('mirror-pods')
      .for(Pod, {
        predicates: [
          ({ object: { metadata } }) => metadata.namespace === mirrorNamespace && byName.has(metadata.name),
        ],
      })
      .watches(Node, ({ metadata }) => (metadata.name === nodeName ? keys : []), {
        predicates: [event => event.type !== 'update' || addressOf(event.object) !== addressOf(event.old)],
      })
      .options({ eventSource: 'kubelet' })
      .reconcile(async context => {
        const own = byName.get(context.key.name)
        const node = await context.client.get(Node, { name: nodeName })
        const address = node && addressOf(node)
        // A node without an address counts as missing.
        if (!own || !node || address === undefined || node.metadata.deletionTimestamp) return
        life.startedAt ??= context.clock.now()
        if (nodeLabels && !life.labelled.has(node.metadata.uid)) {
          life.labelled.add(node.metadata.uid)
          await context.client.patch(
            Node,
            { name: nodeName },
            { metadata: { labels: nodeLabels } },
            { type: 'merge' },
          )
        }
        return await mirror(context, { own, node, address, life })
      })
  })
}

/** Pods that use the network of their node have its address. */
function addressOf({ status }: DeepReadonly<Node>): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
}

interface Life {
  startedAt: number | undefined
  /** Pods that were created or found in the desired state: if another process then replaces one, it keeps the name. */
  readonly written: Set<string>
  /** Nodes that have been labelled, by uid. */
  readonly labelled: Set<string>
}

interface Mirrored {
  readonly own: StaticPod
  readonly node: DeepReadonly<Node>
  readonly address: string
  readonly life: Life
}

async function mirror(context: ReconcileContext, { own, node, address, life }: Mirrored) {
  const { client, key, clock, log } = context
  const wanted = makePod(own, node, clock.now())
  const found = await client.get(Pod, key)
  if (found && !isMirrorPod(found)) {
    log.warn('another pod has the name of a mirror pod', { pod: key.name })
    return
  }
  if (found && !found.metadata.deletionTimestamp && isSame(found, wanted, node)) {
    life.written.add(key.name)
    await writeStatus(context, found, address, life.startedAt!)
    return
  }
  // Another process for this node has created its own: replacing it would start an endless fight.
  const isForeign = found && !found.metadata.deletionTimestamp && ownedBy(found, node)
  if (isForeign && life.written.has(key.name)) return
  if (found)
    await client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid: found.metadata.uid } })
  try {
    await client.create(Pod, wanted)
  } catch (error) {
    if (isAlreadyExists(error)) return requeueAfter(1_000)
    throw error
  }
}

const ownedBy = ({ metadata }: PodView, node: DeepReadonly<Node>): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid) ?? false

function isSame(
  found: PodView,
  wanted: DeepReadonly<CreateOf<typeof Pod>>,
  node: DeepReadonly<Node>,
): boolean {
  const hash = wanted.metadata?.annotations?.[hashAnnotation]
  return found.metadata.annotations?.[mirrorAnnotation] === hash && ownedBy(found, node)
}

function makePod(own: StaticPod, node: DeepReadonly<Node>, now: number): DeepReadonly<CreateOf<typeof Pod>> {
  const { name, labels, annotations, image, command } = own
  const hash = hashOf(JSON.stringify(own))
  return {
    metadata: {
      namespace: mirrorNamespace,
      name: mirrorName(name, node.metadata.name),
      labels,
      annotations: {
        ...annotations,
        [hashAnnotation]: hash,
        [mirrorAnnotation]: hash,
        [seenAnnotation]: formatTime(now),
        [sourceAnnotation]: 'file',
      },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: node.metadata.name,
          uid: node.metadata.uid,
          controller: true,
        },
      ],
    },
    spec: {
      nodeName: node.metadata.name,
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      // It runs as long as its node does, whatever its taints.
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
      containers: [{ name, image, command, imagePullPolicy: 'IfNotPresent' }],
    },
  }
}

/** 32 hexadecimal digits, like the kubelet's: four rounds of FNV-1a with different seeds. */
function hashOf(text: string): string {
  return [0, 1, 2, 3]
    .map(round => {
      let hash = (0x811c9dc5 + round * 0x9e3779b9) >>> 0
      for (let index = 0; index < text.length; index++)
        hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
      return hash.toString(16).padStart(8, '0')
    })
    .join('')
}

const conditionTypes = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]

async function writeStatus(
  { client }: ReconcileContext,
  pod: PodView,
  address: string,
  startedAt: number,
): Promise<void> {
  const { status = {}, spec } = pod
  const [container] = spec.containers
  const [known] = status.containerStatuses ?? []
  const time = formatTime(startedAt)
  const { name = '', image = '' } = container ?? {}
  const containerID = `coxswain://${pod.metadata.uid}-${startedAt}`
  const conditions = conditionTypes.map(type => {
    const before = findStatusCondition(status.conditions, type)
    return before?.status === 'True' ? before : { type, status: 'True' as const, lastTransitionTime: time }
  })
  const isTold =
    status.phase === 'Running' &&
    status.podIP === address &&
    known?.containerID === containerID &&
    conditions.every(condition => status.conditions?.includes(condition))
  if (isTold) return
  // A container that started before this process counts as restarted.
  const restarts = known && known.containerID !== containerID ? known.restartCount + 1 : known?.restartCount
  await client.updateStatus(Pod, {
    ...pod,
    status: {
      ...status,
      phase: 'Running',
      conditions,
      hostIP: address,
      hostIPs: [{ ip: address }],
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: status.startTime ?? time,
      containerStatuses: [
        {
          name,
          image,
          imageID: `coxswain://${image}`,
          containerID,
          ready: true,
          started: true,
          restartCount: restarts ?? 0,
          state: { running: { startedAt: time } },
          lastState: {},
        },
      ],
    },
  })
}
