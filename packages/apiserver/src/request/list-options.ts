import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { newBadRequest, newInvalid, newUnknownError } from '@coxswain/apimachinery/status'
import type { QueryParameters } from '@coxswain/wire'
import { readBoolean, readInteger } from './query.ts'

/** The query of a list, watch or deletecollection. */
export interface ListOptions {
  readonly labelSelector: string
  readonly fieldSelector: string
  /** 0 means no limit. */
  readonly limit: number
  readonly continue: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly timeoutSeconds: number | undefined
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
}

export function parseListOptions(query: QueryParameters): ListOptions {
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: Math.max(0, readInteger(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: readInteger(query, 'timeoutSeconds'),
    allowWatchBookmarks: readBoolean(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: readBoolean(query, 'sendInitialEvents'),
  }
}

/** Throws a 422 when options of a list contradict each other. */
export function validateListOptions(options: ListOptions): void {
  throwIfAny(listErrors(options))
}

/** Throws a 422 when options of a watch contradict each other. */
export function validateWatchOptions(options: ListOptions): void {
  throwIfAny(watchErrors(options))
}

function throwIfAny(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
}

const matchPath = field.Path.of('resourceVersionMatch')

function listErrors(options: ListOptions): FieldError[] {
  const { resourceVersionMatch: match, resourceVersion, sendInitialEvents } = options
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined) {
    errors.push(
      field.forbidden(field.Path.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'),
    )
  }
  if (match === '') return errors
  const forbid = (detail: string) => errors.push(field.forbidden(matchPath, detail))
  if (options.continue !== '') forbid('resourceVersionMatch is forbidden when continue is provided')
  if (resourceVersion === '') forbid('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(field.notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']))
  } else if (match === 'Exact' && resourceVersion === '0') {
    forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  }
  return errors
}

function watchErrors(options: ListOptions): FieldError[] {
  const { resourceVersionMatch: match, sendInitialEvents } = options
  const errors: FieldError[] = []
  const forbid = (detail: string) => errors.push(field.forbidden(matchPath, detail))
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
    }
    if (match !== 'NotOlderThan') errors.push(field.notSupported(matchPath, match, ['NotOlderThan']))
  }
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.unshift(
      field.forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    )
  }
  if (options.continue !== '') forbid('resourceVersionMatch is forbidden when continue is provided')
  return errors
}

/** The number in a `resourceVersion` parameter; 0 when it is empty. Lists answer an invalid one with 400, others with 500. */
export function parseResourceVersion(text: string, verb: 'get' | 'list' | 'watch'): number {
  if (text === '') return 0
  const problem = /^[0-9]+$/.test(text)
    ? BigInt(text) > 18446744073709551615n && 'value out of range'
    : 'invalid syntax'
  if (!problem) return Number(text)
  const detail = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`
  throw verb === 'list' ? newBadRequest(`invalid resource version: ${detail}`) : newUnknownError(detail)
}
