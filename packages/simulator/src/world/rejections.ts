import { encodeText } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import { expiredEvent } from './watch-events.ts'

export const denialTexts = {
  quota: 'exceeded quota: simulated',
  rights: 'the service account of the operator cannot do this',
  terminating: 'unable to create new content in the namespace because it is being terminated',
}

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

export function rejection(code: number, message: string): WireResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: reasons[code],
    code,
  }
  return {
    status: code,
    headers: { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) },
    body: encodeText(JSON.stringify(status)),
  }
}

/** As a server answers that does not know watch-lists: the client lists instead. */
export const noWatchList: WireResponse = rejection(422, 'sendInitialEvents is not supported')

export const expiredAnswer: WireResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: expiredEvent,
}
