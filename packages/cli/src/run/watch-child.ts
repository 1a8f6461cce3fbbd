import { registerHooks } from 'node:module'
import { ownFile } from '@coxswain/kit/node'

/** Set for the processes that `--watch` starts. */
export const childVariable = 'COXSWAIN_WATCH_CHILD'

/** What such a process says to the one that watches: a file that it loads, or that its caches are filled. */
export type Report = { readonly loaded: string } | { readonly ready: true }

export function isReport(message: unknown): message is Report {
  return typeof message === 'object' && message !== null && ('loaded' in message || 'ready' in message)
}

/** Resolves when the process that watches says so; from then on it hears of the files that are loaded. */
export async function waitForTurn(): Promise<{ readonly onReady: () => void }> {
  const report = (message: Report): void => void process.send?.(message, () => {})
  // The one that watches was killed: nothing would stop this one.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  await new Promise(resolve => process.once('message', resolve))
  process.channel?.unref() // it ends when its operators have
  registerHooks({
    load(url, context, nextLoad) {
      const file = ownFile(url)
      if (file !== undefined) report({ loaded: file })
      return nextLoad(url, context)
    },
  })
  return { onReady: () => report({ ready: true }) }
}
