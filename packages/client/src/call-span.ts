import type { Span, Tracer } from '@coxswain/kit'
import type { WireResponse } from '@coxswain/wire'
import type { RestRequest } from './rest-request.ts'

/** How a call is sent: retries are events of `span`. */
type Send<T> = (request: RestRequest, span: Span) => Promise<T>

/**
 * Sends a request in a span of its own, which ends with the head of the answer. The server receives its traceparent; or that
 * of the span it is a part of, which has no spans below it when its trace is not sampled.
 */
export function traceCall<T>(tracer: Tracer, request: RestRequest, send: Send<T>): Promise<T> {
  const { span } = request
  return span && !span.isRecording ? send(withContext(request, span), span) : record(tracer, request, send)
}

async function record<T>(tracer: Tracer, request: RestRequest, send: Send<T>): Promise<T> {
  const { method = 'GET', path, span: parent } = request
  const span = tracer.startSpan(nameOf(request), {
    kind: 'client',
    ...(parent && { parent }),
    attributes: { 'http.request.method': method, 'url.path': path },
  })
  try {
    const answer = await send(withContext(request, span), span)
    if (isResponse(answer)) tellStatus(span, answer.status)
    return answer
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

function withContext(request: RestRequest, { context }: Span): RestRequest {
  return context ? { ...request, headers: { ...request.headers, ...context } } : request
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
