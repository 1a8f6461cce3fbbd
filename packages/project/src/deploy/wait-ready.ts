import { type DynamicObject, isClientError, waitFor } from '@coxswain/client'
import { TaskGroup } from '@coxswain/kit'
import { ProjectError } from '../errors.ts'
import type { FoundObject } from './members.ts'
import { formatName, nameOf } from './object-name.ts'
import { isWorkload, rolloutState } from './rollout.ts'
import { callOptions, type DeployTarget } from './target.ts'
import { whyNotReady } from './why-not-ready.ts'

/** How often the reasons of a rollout that does not end are looked up, in milliseconds. */
const interval = 5_000

/**
 * Resolves when the Deployments, StatefulSets and DaemonSets among the objects are rolled out. Rejects with `NotReady` and what the
 * cluster knows about the first that is not.
 */
export async function waitReady(
  target: DeployTarget,
  objects: readonly FoundObject[],
  left: () => number,
): Promise<void> {
  for (const found of objects) if (isWorkload(found.object)) await waitRollout(target, found, left)
}

async function waitRollout(target: DeployTarget, found: FoundObject, left: () => number): Promise<void> {
  const { client, env, onProgress } = target
  const object = nameOf(found.object)
  const { namespace = '', name } = object
  let last = found.object
  let shown = ''
  const show = (message: string) => {
    if (message === shown) return
    shown = message
    onProgress({ type: 'waiting', object, message })
  }
  const look = (current: DynamicObject | undefined): boolean => {
    if (!current) throw new ProjectError('NotReady', `${formatName(object)} was deleted during its rollout`)
    last = current
    const { state, message } = rolloutState(current)
    if (state === 'waiting') show(message)
    else if (state === 'failed') throw new ProjectError('NotReady', message)
    else onProgress({ type: 'ready', object, message })
    return state === 'done'
  }
  await using group = new TaskGroup(target.signal)
  group.spawn(async signal => {
    for (;;) {
      await env.clock.sleep(interval, { signal })
      const [reason] = await whyNotReady({ ...target, signal }, last)
      if (reason !== undefined) show(reason)
    }
  })
  try {
    const what = { kind: found.kind, key: { namespace, name } }
    await waitFor(client, env, what, look, { ...callOptions(target), timeout: left() })
  } catch (error) {
    const isLate = isClientError(error, 'WaitTimeout')
    if (!isLate && !(error instanceof ProjectError)) throw error
    const reasons = await whyNotReady(target, last)
    const summary = isLate
      ? `${formatName(object)} is not ready: ${rolloutState(last).message}`
      : error.message
    throw new ProjectError('NotReady', [summary, ...reasons.map(each => `  ${each}`)].join('\n'), {
      cause: error,
    })
  }
}
