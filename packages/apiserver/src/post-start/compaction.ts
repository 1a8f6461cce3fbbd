import type { Env } from '@coxswain/kit'
import { encodeText } from '@coxswain/kit'
import { isCompacted, type Store } from '@coxswain/storage'

const interval = 5 * 60_000

/** Not a key of any resource: the write advances the revision and no watcher sees it. */
const heartbeatKey = '/compact_rev_key'

/**
 * Compacts history as upstream does: every five minutes what is older than five minutes, so that a client that pages
 * through a list has between five and ten. Each round is a write, or an idle server would have no newer revision to
 * compact at.
 */
export async function compactHistory(store: Store, env: Env, signal: AbortSignal): Promise<void> {
  let due = (await store.status()).revision
  for (;;) {
    await env.clock.sleep(interval, { signal })
    try {
      await forget(store, due)
      const value = encodeText(String(due))
      const { revision } = await store.transact({ operations: [{ type: 'put', key: heartbeatKey, value }] })
      due = revision
    } catch (error) {
      if (signal.aborted) throw error
      env.log.warn('history could not be compacted', { error })
    }
  }
}

/** The store may have compacted more by itself, or for another server. */
async function forget(store: Store, revision: number): Promise<void> {
  try {
    await store.compact(revision)
  } catch (error) {
    if (!isCompacted(error)) throw error
  }
}
