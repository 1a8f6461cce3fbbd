import { isRuntimeError, Manager, type Operator, type RunOptions } from '@coxswain/runtime'

/**
 * Runs an operator whenever it leads, until `signal` aborts. Losing the lease ends a term, not the process. `onManager` is
 * called for the first term.
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
      // A manager that does not stop in time does no harm: its writes are blocked.
      const isLate = isRuntimeError(error, 'ShutdownTimeout') && !signal.aborted
      if (!isLate && !isRuntimeError(error, 'LeadershipLost')) throw error
      env?.log.warn('lost the lease; waiting to lead again', { operator: operator.name })
    }
  }
}
