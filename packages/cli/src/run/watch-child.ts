import { registerHooks } from 'node:module'
import { ownFile } from '@coxswain/kit/node'

/** Set for the processes that `--watch` starts. */
export const childVariable = 'COXSWAIN_WATCH_CHILD'

/** A message of such a process to its parent: a file that it loads, or that its caches have synced. */
export type Report = { readonly loaded: string } | { readonly ready: true }

export function isReport(message: unknown): message is Report {
  return typeof message === 'object' && message !== null && ('loaded' in message || 'ready' in message)
}

/** Resolves when the parent allows it to run; from then on loaded files are reported to the parent. */
export async function waitForTurn(): Promise<{ readonly onReady: () => void }> {
  const report = (message: Report): void => void process.send?.(message, () => {})
  // The parent was killed: nothing else would stop this process.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  await new Promise(resolve => process.once('message', resolve))
  process.channel?.unref() // it exits when its operators have stopped
  registerHooks({
    load(url, context, nextLoad) {
      const file = ownFile(url)
      if (file !== undefined) report({ loaded: file })
      return nextLoad(url, context)
    },
  })
  return { onReady: () => report({ ready: true }) }
}
