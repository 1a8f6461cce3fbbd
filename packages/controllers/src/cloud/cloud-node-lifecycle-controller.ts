import { Node } from '@coxswain/api/core/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { type NodeView, nodeReadyCondition } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import type { CloudProvider, Instances } from './provider.ts'

const shutdownTaint = 'node.cloudprovider.kubernetes.io/shutdown'
const monitorPeriod = 5_000

/** Deletes nodes whose instances no longer exist, and taints those whose instances are shut down. */
export function createCloudNodeLifecycleController({ instances }: CloudProvider): Operator {
  return defineOperator('cloud-node-lifecycle-controller', operator => {
    if (!instances) return
    operator
      .controller('cloud-node-lifecycle')
      .watches(Node, () => [])
      .timer(monitorPeriod, lookup =>
        lookup
          .list(Node)
          .filter(node => !isReady(node) || isShutDown(node))
          .map(({ metadata: { name } }) => ({ name })),
      )
      .options({ eventSource: 'cloud-node-lifecycle-controller' })
      .reconcile(async context => {
        const node = await context.client.get(Node, context.key)
        if (node) await monitor(context, node, instances)
      })
  })
}

const isReady = (node: NodeView) => nodeReadyCondition(node)?.status === 'True'
const isShutDown = ({ spec }: NodeView) => spec?.taints?.some(({ key }) => key === shutdownTaint) ?? false

async function monitor(context: ReconcileContext, node: NodeView, instances: Instances): Promise<void> {
  if (isReady(node)) await removeTaint(context, node)
  else if (!(await instances.exists(node, context))) await deleteNode(context, node)
  else if (await instances.isShutDown(node, context)) await addTaint(context, node)
}

async function deleteNode({ client, key, events }: ReconcileContext, node: NodeView): Promise<void> {
  const { name, uid } = node.metadata
  events.normal(node, 'DeletingNode', `Deleting node ${name} because it does not exist in the cloud provider`)
  try {
    await client.delete(Node, key, { preconditions: { uid } })
  } catch (error) {
    if (isNotFound(error)) return
    const message = error instanceof Error ? error.message : String(error)
    events.warning(node, 'DeletingNodeFailed', `Failed deleting node ${name}: ${message}`)
    throw error
  }
}

async function addTaint(context: ReconcileContext, node: NodeView): Promise<void> {
  if (isShutDown(node)) return
  await writeTaints(context, node, [...otherTaints(node), { key: shutdownTaint, effect: 'NoSchedule' }])
}

async function removeTaint(context: ReconcileContext, node: NodeView): Promise<void> {
  if (isShutDown(node)) await writeTaints(context, node, otherTaints(node))
}

const otherTaints = ({ spec }: NodeView) => (spec?.taints ?? []).filter(({ key }) => key !== shutdownTaint)

async function writeTaints(
  { client, key }: ReconcileContext,
  node: NodeView,
  taints: readonly object[],
): Promise<void> {
  const { uid, resourceVersion } = node.metadata
  await client.patch(Node, key, { metadata: { uid, resourceVersion }, spec: { taints } }, { type: 'merge' })
}
