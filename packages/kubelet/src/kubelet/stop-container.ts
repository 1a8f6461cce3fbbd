import type { HookTarget } from './hooks.ts'
import { runHook } from './hooks.ts'

/** The grace period that is left when a hook has used all of it. */
const leastGrace = 2_000

export interface StopOptions {
  /** Called when the hook fails. */
  readonly onHookFailure: () => void
  /** Aborts the hook. */
  readonly signal?: AbortSignal | undefined
  /** Resolves when the containers that have to end first have ended. @default at once */
  readonly turn?: Promise<unknown> | undefined
}

/**
 * Runs the preStop hook, then stops the container, within `grace` milliseconds together; at least two seconds are left for the
 * stop. Resolves when the container has ended.
 */
export async function stopContainer(
  target: HookTarget,
  grace: number,
  { onHookFailure, signal, turn }: StopOptions,
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
  const left = () => grace - (env.clock.monotonic() - started)
  if (turn && left() > 0) {
    const late = Promise.withResolvers<void>()
    const timer = env.clock.after(left(), late.resolve)
    await Promise.race([turn, handle.exited, late.promise])
    timer.cancel()
  }
  await handle.stop(grace === 0 ? 0 : Math.max(left(), leastGrace), stopSignal)
}
