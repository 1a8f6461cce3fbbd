import type { HookTarget } from './hooks.ts'
import { runHook } from './hooks.ts'

/** What is left for the stop when a hook has taken the whole grace period. */
const leastGrace = 2_000

/**
 * The hook before the stop, then the stop, within `grace` milliseconds together; at least two seconds are left for the
 * stop. Resolves when the container has ended. `onHookFailure` is told when the hook fails; `signal` ends it.
 */
export async function stopContainer(
  target: HookTarget,
  grace: number,
  {
    onHookFailure,
    signal,
  }: { readonly onHookFailure: () => void; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { container, handle, env } = target
  const { preStop, stopSignal } = container.lifecycle ?? {}
  const started = env.clock.monotonic()
  if (preStop && grace > 0) {
    const late = new AbortController()
    const timer = env.clock.after(grace, () => late.abort())
    try {
      await runHook(preStop, target, signal ? AbortSignal.any([late.signal, signal]) : late.signal)
    } catch {
      onHookFailure()
    } finally {
      timer.cancel()
    }
  }
  const left = grace - (env.clock.monotonic() - started)
  await handle.stop(grace === 0 ? 0 : Math.max(left, leastGrace), stopSignal)
}
