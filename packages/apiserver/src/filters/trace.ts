import { isStatusError } from '@coxswain/apimachinery/status'
import type { Span, Tracer } from '@coxswain/kit'
import { getHeader, traceContextOf, type WireResponse } from '@coxswain/wire'
import { auditIdOf } from '../request/audit-id.ts'
import type { RequestContext } from '../request/context.ts'
import type { Answer, Filter, Next } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'
import type { ResourceRequestInfo } from '../request/request-info.ts'
import { whenOver } from '../request/response.ts'

/** Users whose traces are continued, and whose decision to sample them counts. */
const trustedGroups = ['system:masters', 'system:monitoring']

/**
 * One span for each request. It comes after authentication, as in kube-apiserver: the trace of a trusted client is continued,
 * that of any other is only linked to, so that clients cannot decide what is sampled. A watch lasts until it ends.
 */
export function createTrace(tracer: Tracer): Filter {
  return (context, next) => {
    const { request, info, user, receivedAt = tracer.now() } = context
    context.auditId ??= auditIdOf(context)
    const remote = traceContextOf(request.headers)
    const isTrusted = user.groups.some(group => trustedGroups.includes(group))
    const target = request.query === '' ? request.path : `${request.path}?${request.query}`
    const span = tracer.startSpan(nameOf(context), {
      kind: 'server',
      parent: (isTrusted && remote) || 'none',
      ...(!isTrusted && remote && { link: remote }),
      startTime: receivedAt,
      attributes: {
        'http.request.method': request.method,
        'url.path': request.path,
        'http.target': target,
        'user_agent.original': getHeader(request.headers, 'user-agent'),
        'client.address': request.remoteAddress,
        'audit-id': context.auditId,
      },
    })
    context.span = span
    if (span.isRecording) tracer.startSpan('authenticate', { parent: span, startTime: receivedAt }).end()
    const finish = (response: WireResponse) => {
      const end = () => endWith(span, response.status)
      const long = isLongRunning(info) ? whenOver(response, () => request.signal, end) : undefined
      if (!long) end()
      return long ?? response
    }
    return settle(next, context, { finish, fail: error => endWith(span, codeOf(error), error) })
  }
}

/** The same filter, with a span for the time until it passes a request on. */
export function traceFilter(tracer: Tracer, name: string, filter: Filter): Filter {
  return (context, next) => {
    if (!context.span?.isRecording) return filter(context, next)
    const span = tracer.startSpan(name, { parent: context.span })
    let isOver = false
    const end = () => {
      if (!isOver) span.end()
      isOver = true
    }
    const passOn: Next = passed => {
      end()
      return next(passed)
    }
    const finish = (response: WireResponse) => {
      end()
      return response
    }
    return settle(same => filter(same, passOn), context, { finish, fail: end })
  }
}

/** The same route, with a span for each request to a resource, named as kube-apiserver does. Steps of writes are its events. */
export function traceRoute(tracer: Tracer, route: Next): Next {
  return context => {
    const { info, span: parent } = context
    if (!parent?.isRecording || !info.isResource || info.verb === '') return route(context)
    const span = tracer.startSpan(verbNames[info.verb], {
      parent,
      attributes: {
        verb: info.verb,
        'api-group': info.group,
        'api-version': info.version,
        resource: info.resource,
        subresource: info.subresource,
        namespace: info.namespace,
        name: info.name,
      },
    })
    context.span = span
    const finish = (response: WireResponse) => {
      span.end()
      return response
    }
    return settle(route, context, {
      finish,
      fail: error => {
        if (codeOf(error) >= 500) span.fail(error)
        span.end()
      },
    })
  }
}

const verbNames: Readonly<Record<Exclude<ResourceRequestInfo['verb'], ''>, string>> = {
  create: 'Create',
  delete: 'Delete',
  deletecollection: 'Delete',
  get: 'Get',
  list: 'List',
  patch: 'Patch',
  update: 'Update',
  watch: 'Watch',
}

interface Outcomes {
  readonly finish: (response: WireResponse) => WireResponse
  readonly fail: (error: unknown) => void
}

function settle(next: Next, context: RequestContext, { finish, fail }: Outcomes): Answer {
  let answer: Answer
  try {
    answer = next(context)
  } catch (error) {
    fail(error)
    throw error
  }
  if (!(answer instanceof Promise)) return finish(answer)
  return answer.then(finish, (error: unknown) => {
    fail(error)
    throw error
  })
}

function codeOf(error: unknown): number {
  return isStatusError(error) ? (error.status.code ?? 500) : 500
}

function endWith(span: Span, status: number, error?: unknown): void {
  span.setAttributes({ 'http.response.status_code': status })
  if (status >= 500) span.fail(error)
  span.end()
}

/** `GET /api/v1/namespaces/{:namespace}/pods/{:name}`, in the form of kube-apiserver; the method alone for other paths. */
function nameOf({ request, info }: RequestContext): string {
  if (!info.isResource) return request.method
  const parts = [
    request.method,
    info.group === '' ? ' /api' : ` /apis/${info.group}`,
    `/${info.version}`,
    info.namespace === '' ? '' : '/namespaces/{:namespace}',
    `/${info.resource}`,
    info.name === '' ? '' : '/{:name}',
    info.subresource === '' ? '' : `/${info.subresource}`,
  ]
  return parts.join('')
}
