import { isRuntimeError, type Operator, type RunOptions, runOperator } from '@coxswain/runtime'

/** Runs an operator whenever it leads, until `signal` aborts. Losing the lease ends a turn, not the process. */
export async function runInTurns(operator: Operator, options: RunOptions): Promise<void> {
  const { signal, env } = options
  while (!signal.aborted) {
    try {
      await runOperator(operator, options)
    } catch (error) {
      // What does not stop in time can do no harm: none of its writes is sent.
      const isLate = isRuntimeError(error, 'ShutdownTimeout') && !signal.aborted
      if (!isLate && !isRuntimeError(error, 'LeadershipLost')) throw error
      env?.log.warn('another server may lead; waiting for the next turn', { operator: operator.name })
    }
  }
}
