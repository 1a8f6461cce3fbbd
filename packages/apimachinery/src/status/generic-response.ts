import { quote } from '../go/quote.ts'
import { formatGroupResource, type GroupResource } from '../meta/gvk.ts'
import { failureStatus, StatusError } from './status-error.ts'

export interface GenericResponse {
  readonly code: number
  /** The HTTP method: a conflict means something else for POST. */
  readonly verb: string
  readonly resource?: GroupResource
  readonly name?: string
  /** The body, or a part of it. */
  readonly serverMessage: string
  readonly retryAfterSeconds?: number
  /** True when the body should have been a Status: it is then kept as a cause. */
  readonly unexpected: boolean
}

interface Wording {
  readonly reason: string
  readonly message: string
}

/** The error for a response that is not a Status: a proxy's page, a plain 404. */
export function newGenericServerResponse(response: GenericResponse): StatusError {
  const { code, verb, name = '', serverMessage, retryAfterSeconds = 0, unexpected } = response
  const resource = response.resource ?? { group: '', resource: '' }
  const { reason, message } = wordingOf(code, verb, serverMessage)
  return new StatusError(
    failureStatus({
      code,
      reason,
      message: message + subjectOf(verb, resource, name),
      details: {
        name,
        group: resource.group,
        kind: resource.resource,
        causes: unexpected ? [{ reason: 'UnexpectedServerResponse', message: serverMessage }] : [],
        retryAfterSeconds,
      },
    }),
  )
}

function subjectOf(verb: string, resource: GroupResource, name: string): string {
  if (resource.group === '' && resource.resource === '') return ''
  const subject = `${verb.toLowerCase()} ${formatGroupResource(resource)}`
  return name === '' ? ` (${subject})` : ` (${subject} ${name})`
}

const wordings: Readonly<Record<number, Wording>> = {
  400: { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' },
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: {
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
  },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message:
      'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
}

function wordingOf(code: number, verb: string, serverMessage: string): Wording {
  const fixed = wordings[code]
  if (fixed) return fixed
  switch (code) {
    case 403:
      return { reason: 'Forbidden', message: serverMessage }
    case 406: {
      const silent = serverMessage === '' || serverMessage === 'unknown'
      const unable = 'the server was unable to respond with a content type that the client supports'
      return { reason: 'NotAcceptable', message: silent ? unable : serverMessage }
    }
    case 409:
      return {
        reason: verb === 'POST' ? 'AlreadyExists' : 'Conflict',
        message: 'the server reported a conflict',
      }
    case 415:
      return { reason: 'UnsupportedMediaType', message: serverMessage }
  }
  if (code >= 500) {
    const message = `an error on the server (${quote(serverMessage)}) has prevented the request from succeeding`
    return { reason: 'InternalError', message }
  }
  const message = `the server responded with the status code ${code} but did not return more information`
  return { reason: '', message }
}
