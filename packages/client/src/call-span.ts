import type { Span, Tracer } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import type { RestRequest } from './rest-request.ts'

/** How a call is sent: retries are events of `span`. */
type Send<T> = (request: RestRequest, span: Span) => Promise<T>

/** Sends a request in a span of its own, which ends with the head of the answer. The server receives its traceparent. */
export async function traceCall<T>(tracer: Tracer, request: RestRequest, send: Send<T>): Promise<T> {
  const { method = 'GET', path, span: parent } = request
  const span = tracer.startSpan(nameOf(request), {
    kind: 'client',
    ...(parent && { parent }),
    attributes: { 'http.request.method': method, 'url.path': path },
  })
  try {
    const { context } = span
    const answer = await send(
      context ? { ...request, headers: { ...request.headers, ...context } } : request,
      span,
    )
    if (isResponse(answer)) tellStatus(span, answer.status)
    return answer
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

/** `GET deployments.apps`: few names, whatever the objects are called. */
function nameOf({ method = 'GET', resource }: RestRequest): string {
  if (!resource) return method
  const { group, resource: name } = resource
  return group === '' ? `${method} ${name}` : `${method} ${name}.${group}`
}

function isResponse(answer: unknown): answer is WireResponse {
  return typeof (answer as Partial<WireResponse>).status === 'number'
}

function tellStatus(span: Span, status: number): void {
  span.setAttributes({ 'http.response.status_code': status })
  if (status < 400) return
  span.setAttributes({ 'error.type': String(status) })
  span.fail()
}
