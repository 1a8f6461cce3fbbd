import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  type HrTime,
  isSpanContextValid,
  type Span as OpenTelemetrySpan,
  type SpanOptions as OpenTelemetrySpanOptions,
  type Tracer as OpenTelemetryTracer,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import type { Clock } from '../clock.ts'
import type { Span, SpanAttributes, SpanOptions, TraceContext, Tracer } from '../tracer.ts'

/** Options of {@link createOpenTelemetryTracer}. */
export interface OpenTelemetryTracerOptions {
  readonly clock: Clock
  /** @default the one that is registered for the whole process */
  readonly provider?: TracerProvider
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }
/** Version, trace id, parent id and flags; later versions may have more. */
const traceparentForm = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,256})?$/
const longestTracestate = 512

/** Whether the process has registered a provider: without one spans are not collected. */
export function hasTracerProvider(): boolean {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegate() !== new ProxyTracerProvider().getDelegate()
    : true
}

/** Creates a tracer that records spans with OpenTelemetry. */
export function createOpenTelemetryTracer({
  clock,
  provider = trace.getTracerProvider(),
}: OpenTelemetryTracerOptions): Tracer {
  const tracer: OpenTelemetryTracer = provider.getTracer('coxswain', '0.1.0')
  const epoch = clock.now() - clock.monotonic()
  const now = (): number => epoch + clock.monotonic()
  return {
    now,
    startSpan(name, { kind = 'internal', parent, link, attributes, startTime }: SpanOptions = {}): Span {
      // A trace that is not sampled needs no more ids: its first span stands for those below it.
      if (parent instanceof RecordedSpan && !parent.isRecording) return parent
      const options: OpenTelemetrySpanOptions = {
        kind: kinds[kind],
        startTime: toHrTime(startTime ?? now()),
      }
      if (attributes) options.attributes = attributes as Attributes
      const linked = link && parseTraceContext(link)
      if (linked) options.links = [{ context: linked }]
      return new RecordedSpan(tracer.startSpan(name, options, contextOf(parent)), now)
    },
  }
}

class RecordedSpan implements Span {
  readonly span: OpenTelemetrySpan
  readonly isRecording: boolean
  readonly #now: () => number
  /** Computed on first access, since most spans make no calls. */
  #context: TraceContext | undefined

  constructor(span: OpenTelemetrySpan, now: () => number) {
    this.span = span
    this.isRecording = span.isRecording()
    this.#now = now
  }

  get context(): TraceContext | undefined {
    this.#context ??= this.#readContext()
    return this.#context
  }

  #readContext(): TraceContext | undefined {
    const spanContext = this.span.spanContext()
    if (!isSpanContextValid(spanContext)) return undefined
    const { traceId, spanId, traceFlags, traceState } = spanContext
    const tracestate = traceState?.serialize()
    return {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      ...(tracestate && { tracestate }),
    }
  }

  setAttributes(attributes: SpanAttributes): void {
    if (this.isRecording) this.span.setAttributes(attributes as Attributes)
  }

  addEvent(name: string, attributes?: SpanAttributes, time?: number): void {
    if (!this.isRecording) return
    this.span.addEvent(name, attributes as Attributes | undefined, toHrTime(time ?? this.#now()))
  }

  fail(error?: unknown): void {
    if (!this.isRecording) return
    if (error === undefined) return void this.span.setStatus({ code: SpanStatusCode.ERROR })
    const message = error instanceof Error ? error.message : String(error)
    this.span.recordException(error instanceof Error ? error : message, toHrTime(this.#now()))
    this.span.setStatus({ code: SpanStatusCode.ERROR, message })
  }

  run<T>(work: () => T): T {
    return context.with(trace.setSpan(context.active(), this.span), work)
  }

  end(time?: number): void {
    if (this.isRecording) this.span.end(toHrTime(time ?? this.#now()))
  }
}

function contextOf(parent: SpanOptions['parent']): Context {
  if (parent === undefined) return context.active()
  if (parent === 'none') return ROOT_CONTEXT
  if (parent instanceof RecordedSpan) return trace.setSpan(ROOT_CONTEXT, parent.span)
  const remote = parseTraceContext('traceparent' in parent ? parent : parent.context)
  return remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT
}

/** Undefined for headers that are not well-formed, which are ignored. */
function parseTraceContext(given: TraceContext | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    traceparentForm.exec(given?.traceparent ?? '') ?? []
  if (version === undefined || (version === '00' && more !== undefined)) return undefined
  const tracestate = given?.tracestate ?? ''
  const found: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 3,
    isRemote: true,
    ...(tracestate !== '' &&
      tracestate.length <= longestTracestate && { traceState: createTraceState(tracestate) }),
  }
  return isSpanContextValid(found) ? found : undefined
}

/** Seconds and nanoseconds: a bare number would be taken for time since the start of the process when it is small. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}
