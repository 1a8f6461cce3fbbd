import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { type Client, metadataOf } from '@coxswain/client'
import type { ListerWatcher, Scope, WatchEvent } from '@coxswain/informers'

/** Lists and watches a part of a resource through a client. */
export function listerWatcherOf(client: Client, kind: Kind, scope: Scope): ListerWatcher {
  const target: Kind = scope.metadataOnly ? metadataOf(kind) : kind
  const { namespace, labelSelector, fieldSelector } = scope
  const selectors = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
  return {
    list: ({ resourceVersion, ...paging }, signal) =>
      client.list(target, { ...selectors, ...paging, ...version(resourceVersion), signal, timeout: 0 }),
    watch: ({ resourceVersion, ...query }, signal) =>
      client.watch(target, { ...selectors, ...query, ...version(resourceVersion), signal }) as AsyncIterable<
        WatchEvent<ApiObject>
      >,
  }
}

/** The most recent state is requested without a resourceVersion. */
function version(resourceVersion: string): { readonly resourceVersion?: string } {
  return resourceVersion === '' ? {} : { resourceVersion }
}
