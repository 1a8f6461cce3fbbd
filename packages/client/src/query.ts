import type {
  DeleteAllOptions,
  DeleteOptions,
  ListOptions,
  PatchType,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import type { QueryValues } from './rest-request.ts'

export const patchContentTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

export function listQuery(options: ListOptions): QueryValues {
  return {
    labelSelector: options.labelSelector || undefined,
    fieldSelector: options.fieldSelector || undefined,
    limit: options.limit,
    continue: options.continue || undefined,
    resourceVersion: options.resourceVersion || undefined,
    resourceVersionMatch: options.resourceVersionMatch,
    timeoutSeconds: options.timeoutSeconds,
  }
}

export function watchQuery(options: WatchOptions): QueryValues {
  const { sendInitialEvents } = options
  return {
    watch: true,
    labelSelector: options.labelSelector || undefined,
    fieldSelector: options.fieldSelector || undefined,
    allowWatchBookmarks: options.allowWatchBookmarks ?? true,
    resourceVersion: options.resourceVersion || undefined,
    resourceVersionMatch:
      options.resourceVersionMatch ?? (sendInitialEvents === undefined ? undefined : 'NotOlderThan'),
    sendInitialEvents,
    timeoutSeconds: options.timeoutSeconds,
  }
}

export function writeQuery(options: WriteOptions, fieldManager: string | undefined): QueryValues {
  return {
    dryRun: options.dryRun ? 'All' : undefined,
    fieldManager: options.fieldManager ?? fieldManager,
    fieldValidation: options.fieldValidation,
  }
}

export function collectionQuery(options: DeleteAllOptions): QueryValues {
  return {
    labelSelector: options.labelSelector || undefined,
    fieldSelector: options.fieldSelector || undefined,
    limit: options.limit,
    resourceVersion: options.resourceVersion || undefined,
    resourceVersionMatch: options.resourceVersionMatch,
  }
}

/** The `DeleteOptions` to send; undefined when the server's defaults are wanted. */
export function deleteBody(options: DeleteOptions): object | undefined {
  const { propagationPolicy, preconditions, gracePeriodSeconds, dryRun } = options
  if (!propagationPolicy && !preconditions && gracePeriodSeconds === undefined && !dryRun) return undefined
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds,
    preconditions,
    propagationPolicy,
    dryRun: dryRun ? ['All'] : undefined,
  }
}
