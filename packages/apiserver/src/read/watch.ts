import { newBadRequest, newResourceExpired, type StatusError } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import { serveAll } from '../registry/convert.ts'
import type { Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import {
  type ListOptions,
  parseListOptions,
  parseResourceVersion,
  validateListOptions,
  validateWatchOptions,
} from '../request/list-options.ts'
import { isTrue } from '../request/request-info.ts'
import { createMatcher } from './matcher.ts'
import type { ReadPorts } from './ports.ts'
import type { Reader } from './read.ts'
import type { View } from './view.ts'
import { openWatchStream } from './watch-stream.ts'

export interface WatchPorts extends Pick<ReadPorts, 'env' | 'cache'> {
  readonly reader: Reader
}

/** Without `timeoutSeconds` a watch lasts between this and twice as long. */
const minimumTimeout = 30 * 60_000

export async function handleWatch(
  { reader, env, cache }: WatchPorts,
  context: ResourceContext,
  endpoint: Endpoint,
): Promise<WireResponse> {
  const view = reader.view(context, endpoint)
  const options = nameInSelector(context, parseListOptions(context.query))
  // Upstream validates the options of the legacy path as a list's, unless they have `watch`.
  const isOldForm = context.info.legacyWatch && !isTrue(context.query.get('watch'))
  if (isOldForm) validateListOptions(options)
  else validateWatchOptions(options)
  const { matches } = createMatcher(endpoint, options)
  const revision = parseResourceVersion(options.resourceVersion, 'watch')
  view.requireStream()
  const { cache: objects } = endpoint.resource

  if (view.isListForm) return view.stream(noEvents())
  const fromState = options.sendInitialEvents ?? revision === 0
  if (fromState) {
    try {
      await reader.freshen(context, options.resourceVersion, revision)
    } catch (error) {
      return oneEvent(view, view.error((error as StatusError).status))
    }
  } else if (revision > 0 && !objects.covers(revision + 1)) {
    const { status } = newResourceExpired(`too old resource version: ${revision} (${objects.floor})`)
    return oneEvent(view, view.error(status))
  }
  const timeoutMs =
    options.timeoutSeconds !== undefined && options.timeoutSeconds > 0
      ? options.timeoutSeconds * 1000
      : minimumTimeout + env.random.next() * minimumTimeout
  return view.stream(
    openWatchStream({
      env,
      cache: objects,
      encoder: view,
      namespace: endpoint.resource.info.namespaced ? context.info.namespace : '',
      matches,
      ...(endpoint.resource.strategy.convertAll && {
        prepare: changed => serveAll(endpoint, changed),
      }),
      begin: fromState
        ? { from: 'state', endBookmark: options.allowWatchBookmarks && !isOldForm }
        : { from: 'revision', revision: revision === 0 ? cache.revision : revision },
      bookmarks: options.allowWatchBookmarks,
      currentRevision: () => cache.revision,
      timeoutMs,
      signal: context.request.signal,
    }),
  )
}

/** The legacy path `/watch/.../NAME` is a field selector on the name. */
function nameInSelector(context: ResourceContext, options: ListOptions): ListOptions {
  const { name } = context.info
  if (name === '') return options
  const wanted = `metadata.name=${name}`
  if (options.fieldSelector !== '' && options.fieldSelector !== wanted) {
    throw newBadRequest(`fieldSelector metadata.name doesn't match requested name`)
  }
  return { ...options, fieldSelector: wanted }
}

async function* noEvents(): AsyncGenerator<Uint8Array, void, undefined> {}

/** A stream of a single event. */
function oneEvent(view: View, event: Uint8Array): WireResponse {
  async function* body(): AsyncGenerator<Uint8Array, void, undefined> {
    yield event
  }
  return view.stream(body())
}
