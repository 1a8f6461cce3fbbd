import type { Attempt } from './cycle.ts'
import type { NodeInfo } from './node-info.ts'
import type { Verdict } from './plugin.ts'

/** What has to be done before. @throws the reason of `signal` when it aborts */
export async function runPreBind(
  attempt: Attempt,
  node: NodeInfo,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  for (const plugin of attempt.profile.at('preBind')) {
    const work = plugin.preBind(attempt, node, signal)
    const verdict = await naming(`running PreBind plugin "${plugin.name}"`, work)
    if (verdict) return { code: 'Error', reasons: verdict.reasons }
  }
  signal.throwIfAborted()
  return undefined
}

/** The first extender that binds such pods does, else the first plug-in that will. */
export async function runBind(attempt: Attempt, node: NodeInfo): Promise<Verdict | undefined> {
  const { profile, pod, extenders } = attempt
  for (const extender of extenders) {
    if (!extender.canBind || !extender.isInterestedIn(pod.pod)) continue
    await extender.bind(pod.pod, node.name)
    return undefined
  }
  for (const plugin of profile.at('bind'))
    if (await naming(`running Bind plugin "${plugin.name}"`, plugin.bind(attempt, node))) return undefined
  return { code: 'Error', reasons: ['no plugin of the profile binds pods'] }
}

/** Says in the error who was at work. */
async function naming<T>(who: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new Error(`${who}: ${(error as Error).message}`, { cause: error })
  }
}
