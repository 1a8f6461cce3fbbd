import type { ApiObject } from '@coxswain/apimachinery/meta'
import { isResourceExpired } from '@coxswain/apimachinery/status'
import type { Clock } from '@coxswain/kit'
import { InformerError } from '../errors.ts'
import type { ListerWatcher, ListQuery } from '../lister-watcher.ts'

/** The number of objects in a page. */
const pageSize = 500
/** The time limit for a page. */
const pageTimeout = 60_000

export interface WholeList<T> {
  readonly resourceVersion: string
  readonly items: T[]
}

/**
 * Lists the full collection: in pages if the server reads them from its store, or at once if a resourceVersion is given, which
 * the server answers from memory.
 */
export async function listAll<T extends ApiObject>(
  source: ListerWatcher<T>,
  resourceVersion: string,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<WholeList<T>> {
  const paged = resourceVersion === '' || resourceVersion === '0'
  let query: ListQuery = { resourceVersion, ...(paged && { limit: pageSize }) }
  let items: T[] = []
  let at: string | undefined
  for (;;) {
    try {
      const page = await listPage(source, query, options)
      at ??= page.metadata.resourceVersion!
      if (items.length === 0) items = page.items
      else for (const item of page.items) items.push(item)
      const token = page.metadata.continue
      if (!token) return { resourceVersion: at, items }
      query = { resourceVersion: '', limit: pageSize, continue: token }
    } catch (error) {
      if (query.continue === undefined || !isResourceExpired(error)) throw error
      // The pages' revision was compacted meanwhile: the pages so far are useless.
      query = { resourceVersion }
      items = []
      at = undefined
    }
  }
}

async function listPage<T extends ApiObject>(
  source: ListerWatcher<T>,
  query: ListQuery,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): ReturnType<ListerWatcher<T>['list']> {
  const controller = new AbortController()
  const onAbort = (): void => controller.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const timer = clock.after(pageTimeout, () =>
    controller.abort(new InformerError('BadEvent', `a list was not answered within ${pageTimeout / 1000} s`)),
  )
  try {
    const page = await source.list(query, controller.signal)
    if (!Array.isArray(page?.items) || typeof page.metadata?.resourceVersion !== 'string') {
      throw new InformerError('BadEvent', 'the response to a list is not a list')
    }
    return page
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', onAbort)
  }
}
