import type { Attempt } from './cycle.ts'
import type { NodeInfo } from './node-info.ts'
import type { Verdict } from './plugin.ts'

/** Runs the preBind plug-ins. @throws the reason of `signal` if it aborts */
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

/** Binds by the first extender that binds such pods, or else by the first plug-in that does. */
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

/** Prefixes errors with the plug-in that failed. */
async function naming<T>(who: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new Error(`${who}: ${(error as Error).message}`, { cause: error })
  }
}
