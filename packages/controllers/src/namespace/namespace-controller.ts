import { Namespace } from '@coxswain/api/core/v1'
import { isConflict, isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Client } from '@coxswain/client'
import { defineOperator, type Operator, requeueAfter } from '@coxswain/runtime'
import { createExponentialLimiter } from '@coxswain/workqueue'
import { ResourceKinds } from '../resource-kinds.ts'
import { type Outcome, updateConditions } from './conditions.ts'
import { emptyNamespace } from './content.ts'

/** Back-off for rechecking a namespace: doubling from the first, up to the second. */
const recheck = { first: 1_000, last: 8_000 }

const ownFinalizer = 'kubernetes'

/** Options of {@link createNamespaceController}. */
export interface NamespaceControllerOptions {
  /**
   * Milliseconds between a namespace's deletion and the first deletion of its content. With several API servers on one store,
   * another one may still admit objects for a moment; kube-controller-manager waits 5 s. @default 0
   */
  readonly gracePeriod?: number
}

/** Deletes the content of terminating namespaces, for every resource that the server serves, then finalizes them. */
export function createNamespaceController(options: NamespaceControllerOptions = {}): Operator {
  const { gracePeriod = 0 } = options
  return defineOperator('namespace-controller', operator => {
    /** The last delay of each namespace, by name. */
    const waits = new Map<string, number>()
    operator
      .controller('namespace')
      .for(Namespace)
      .options({ concurrency: 5, rateLimiter: () => createExponentialLimiter({ cap: 60_000 }) })
      .reconcile(async ({ key, client, clock }) => {
        const { direct } = client
        const namespace = await direct.get(Namespace, key)
        const { deletionTimestamp } = namespace?.metadata ?? {}
        if (!namespace || !deletionTimestamp || !namespace.spec?.finalizers?.includes(ownFinalizer)) {
          waits.delete(key.name)
          return
        }
        const early = Date.parse(deletionTimestamp) + gracePeriod - clock.now()
        if (gracePeriod > 0 && early > 0) return requeueAfter(early)

        const outcome = await empty(direct, key.name)
        await writeConditions(direct, namespace, outcome, formatTime(clock.now()))
        const problems = [outcome.discoveryFailure ?? [], outcome.failures].flat()
        if (problems.length > 0) throw new Error(problems.join('; '))
        if (outcome.remaining.size > 0) {
          const wait = Math.min((waits.get(key.name) ?? recheck.first / 2) * 2, recheck.last)
          waits.set(key.name, wait)
          return requeueAfter(wait)
        }
        waits.delete(key.name)
        await finalize(direct, namespace)
        return
      })
  })
}

async function empty(client: Client, name: string): Promise<Outcome> {
  try {
    return await emptyNamespace(client, name, await new ResourceKinds(client).refresh())
  } catch (error) {
    const discoveryFailure = (error as Error).message
    return { discoveryFailure, failures: [], remaining: new Map(), finalizers: new Map() }
  }
}

/** Writes of other clients are kept; a conflict is retried in the next round. */
async function writeConditions(
  client: Client,
  namespace: Namespace,
  outcome: Outcome,
  now: string,
): Promise<void> {
  const conditions = updateConditions(namespace.status?.conditions ?? [], outcome, now)
  if (!conditions) return
  try {
    await client.updateStatus(Namespace, {
      ...namespace,
      status: { ...namespace.status, conditions: [...conditions] },
    })
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error
  }
}

async function finalize(client: Client, { metadata: { name, uid } }: Namespace): Promise<void> {
  const namespace = await client.get(Namespace, { name })
  if (!namespace || namespace.metadata.uid !== uid) return
  const finalizers = (namespace.spec?.finalizers ?? []).filter(finalizer => finalizer !== ownFinalizer)
  try {
    await client
      .subresource(Namespace, { name }, 'finalize')
      .update({ ...namespace, spec: { ...namespace.spec, finalizers } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
