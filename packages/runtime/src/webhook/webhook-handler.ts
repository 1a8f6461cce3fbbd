import type { Kind } from '@coxswain/apimachinery/kinds'
import type { Env, Span, Tracer } from '@coxswain/kit'
import { type Handler, traceContextOf, type WireRequest, type WireResponse } from '@coxswain/wire'
import type { MetricsRegistry } from '../metrics/registry.ts'
import type { OperatorClient } from '../operator-client.ts'
import { type AdmissionDependencies, answerDefault, answerValidate } from './answer-admission.ts'
import { answerConversion, ConversionGraph } from './answer-conversion.ts'
import {
  type AdmissionRequest,
  type AdmissionResponse,
  type ConversionRequest,
  plainAnswer,
  readReview,
  writeReview,
} from './review.ts'
import type { WebhookDefinition } from './webhook-builder.ts'
import { createWebhookMetrics } from './webhook-metrics.ts'

const admissionReview = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const
const conversionReview = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' } as const

/** The path of all conversions. */
export const conversionPath = '/convert'

/** The path of a webhook: `/mutate-apps-v1-deployment`, `/validate--v1-pod`. */
export function admissionPath(verb: 'mutate' | 'validate', { group, version, kind }: Kind): string {
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`
}

/** Options of {@link createWebhookHandler}. */
export interface WebhookHandlerOptions {
  readonly definitions: readonly WebhookDefinition[]
  readonly env: Env
  readonly metrics: MetricsRegistry
  /** The client that a webhook of this definition gets; its calls end with `signal`, and are part of `span`. */
  readonly clientFor: (review: Review) => OperatorClient
}

export interface Review {
  readonly definition: WebhookDefinition
  readonly signal: AbortSignal
  readonly span: Span | undefined
}

type Route = (request: WireRequest, span: Span | undefined) => Promise<WireResponse>

/**
 * The webhook server of an operator: it answers reviews at controller-runtime's paths. It never rejects, and a
 * webhook that throws is contained: its request is denied with a 500 in the review.
 */
export function createWebhookHandler(options: WebhookHandlerOptions): Handler {
  const { env } = options
  const routes = new Map<string, Route>()
  const graph = new ConversionGraph(options.definitions)

  const admission =
    (
      definition: WebhookDefinition,
      answer: (
        definition: WebhookDefinition,
        request: AdmissionRequest,
        deps: AdmissionDependencies,
      ) => Promise<AdmissionResponse>,
    ): Route =>
    async (request, span) => {
      const read = readReview<AdmissionRequest>(request, admissionReview)
      if (!read.ok) return plainAnswer(read.code, read.message)
      const { signal } = request
      const client = options.clientFor({ definition, signal, span })
      const response = await answer(definition, read.request, {
        env,
        client,
        signal,
        onPanic: metrics.panicked,
      })
      return writeReview(admissionReview, response)
    }

  for (const definition of options.definitions) {
    const { kind, defaulter, validator } = definition
    if (defaulter) routes.set(admissionPath('mutate', kind), admission(definition, answerDefault))
    if (validator) routes.set(admissionPath('validate', kind), admission(definition, answerValidate))
  }
  if (!graph.isEmpty) {
    routes.set(conversionPath, async request => {
      const read = readReview<ConversionRequest>(request, conversionReview)
      if (!read.ok) return plainAnswer(read.code, read.message)
      const deps = { log: env.log, onPanic: metrics.conversionPanicked }
      return writeReview(conversionReview, answerConversion(graph, read.request, deps))
    })
  }

  const metrics = createWebhookMetrics(options.metrics, [...routes.keys()])
  return async request => {
    const route = routes.get(request.path)
    if (!route) return plainAnswer(404, 'webhook not found')
    const start = env.clock.monotonic()
    const finished = metrics.started(request.path)
    const span = env.tracer && startSpan(env.tracer, request)
    let response: WireResponse
    try {
      response = span ? await span.run(() => route(request, span)) : await route(request, undefined)
    } catch (error) {
      env.log.error('the webhook server failed', { error, path: request.path })
      response = plainAnswer(500, 'the webhook server failed')
    }
    finished(response.status, (env.clock.monotonic() - start) / 1000)
    if (span) endSpan(span, response)
    return response
  }
}

/** In the trace of the API server that asks. */
function startSpan(tracer: Tracer, { method, path, headers }: WireRequest): Span {
  return tracer.startSpan(`${method} ${path}`, {
    kind: 'server',
    parent: traceContextOf(headers) ?? 'none',
    attributes: { 'http.request.method': method, 'http.route': path, 'url.path': path },
  })
}

function endSpan(span: Span, { status }: WireResponse): void {
  span.setAttributes({ 'http.response.status_code': status })
  if (status >= 500) span.fail()
  span.end()
}
