import { isRuntimeError, Manager, type Operator, type RunOptions } from '@coxswain/runtime'

/**
 * Runs an operator whenever it leads, until `signal` aborts. Losing the lease ends a turn, not the process. `onManager` is
 * told of the first turn.
 */
export async function runInTurns(
  operator: Operator,
  options: RunOptions,
  onManager?: (manager: Manager) => void,
): Promise<void> {
  const { signal, env, ...managerOptions } = options
  let tell = onManager
  while (!signal.aborted) {
    try {
      const manager = new Manager(operator, { errorEvents: false, ...managerOptions, ...(env && { env }) })
      tell?.(manager)
      tell = undefined
      await manager.run(signal)
    } catch (error) {
      // What does not stop in time can do no harm: none of its writes is sent.
      const isLate = isRuntimeError(error, 'ShutdownTimeout') && !signal.aborted
      if (!isLate && !isRuntimeError(error, 'LeadershipLost')) throw error
      env?.log.warn('another server may lead; waiting for the next turn', { operator: operator.name })
    }
  }
}
