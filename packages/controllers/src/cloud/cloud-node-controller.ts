import { Node } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { NodeView } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { desiredAddresses } from './node-addresses.ts'
import {
  type CloudProvider,
  type InstanceMetadata,
  type Instances,
  isUninitialized,
  uninitializedTaint,
} from './provider.ts'

/** Milliseconds between two updates of a node's addresses. */
const statusPeriod = 300_000

/** Renamed labels, kept in step with the deprecated ones. */
const renamedLabels = [
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
] as const
const kubernetesLabel = /(^|\.)(kubernetes|k8s)\.io\//

/** Initializes new nodes with metadata from their cloud, and updates their addresses. */
export function createCloudNodeController({ instances }: CloudProvider): Operator {
  return defineOperator('cloud-node-controller', operator => {
    if (!instances) return
    const eventSource = 'cloud-node-controller'
    operator
      .controller('cloud-node')
      .for(Node)
      .options({ eventSource })
      .reconcile(async context => {
        const node = await context.client.get(Node, context.key)
        if (!node) return
        if (isUninitialized(node)) await initialize(context, node, instances)
        else await renameLabels(context, node)
      })
    operator
      .controller('cloud-node-status')
      .watches(Node, ({ metadata: { name } }) => [{ name }], {
        predicates: [({ type }) => type === 'create'],
      })
      .timer(statusPeriod, lookup => lookup.list(Node).map(({ metadata: { name } }) => ({ name })))
      .options({ eventSource, concurrency: 5 })
      .reconcile(async context => {
        const node = await context.client.get(Node, context.key)
        if (!node || isUninitialized(node)) return
        const metadata = await instances.metadata(node, context)
        if (metadata) await writeAddresses(context, node, metadata)
      })
  })
}

async function initialize(context: ReconcileContext, node: NodeView, instances: Instances): Promise<void> {
  const { client, events } = context
  const metadata = await instances.metadata(node, context)
  if (!metadata) return
  const providerID = node.spec?.providerID ?? metadata.providerID
  if (!providerID)
    throw new Error(`cloud provider does not set node provider ID for node ${node.metadata.name}`)
  desiredAddresses(node, metadata.addresses) // throws if the node's own address is not among them
  // The taint is removed last: until then, failures are retried.
  const addressed = await writeAddresses(context, node, metadata)
  await client.update(Node, {
    ...addressed,
    metadata: { ...addressed.metadata, labels: labelsOf(addressed, metadata) },
    spec: {
      ...addressed.spec,
      providerID,
      taints: addressed.spec?.taints?.filter(({ key }) => key !== uninitializedTaint),
    },
  } as NodeView)
  events.normal(node, 'Synced', 'Node synced successfully')
}

function labelsOf({ metadata: { labels = {} } }: NodeView, metadata: InstanceMetadata) {
  const [zone, region, type] = renamedLabels
  const own = [
    [zone, metadata.zone],
    [region, metadata.region],
    [type, metadata.instanceType],
  ] as const
  const additional = Object.entries(metadata.labels ?? {}).filter(([name]) => !kubernetesLabel.test(name))
  return {
    ...Object.fromEntries(additional),
    ...labels,
    ...Object.fromEntries(own.flatMap(([names, value]) => (value ? names.map(name => [name, value]) : []))),
  }
}

async function renameLabels({ client, key }: ReconcileContext, { metadata }: NodeView): Promise<void> {
  const { labels = {}, uid } = metadata
  const changes = renamedLabels.flatMap(([before, now]) => {
    const value = labels[before]
    return value !== undefined && value !== labels[now] ? [[now, value] as const] : []
  })
  if (changes.length === 0) return
  const patch = { metadata: { uid, labels: Object.fromEntries(changes) } }
  await client.patch(Node, key, patch, { type: 'merge' })
}

/** Resolves with the updated node. */
async function writeAddresses(
  { client, key }: ReconcileContext,
  node: NodeView,
  metadata: InstanceMetadata,
): Promise<NodeView> {
  if (metadata.addresses.length === 0) return node
  const addresses = desiredAddresses(node, metadata.addresses)
  const sorted = (of: typeof addresses) => of.map(({ type, address }) => `${type} ${address}`).sort()
  if (deepEqual(sorted(addresses), sorted(node.status?.addresses ?? []))) return node
  const patch = { metadata: { uid: node.metadata.uid }, status: { addresses } }
  return await client.patch(Node, key, patch, { type: 'merge', subresource: 'status' })
}
