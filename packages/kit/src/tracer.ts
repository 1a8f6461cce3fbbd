/** W3C Trace Context, as the headers `traceparent` and `tracestate` carry it. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** Attributes of a span; undefined ones are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** Options of a new span. */
export interface SpanOptions {
  /** @default 'internal' */
  readonly kind?: 'internal' | 'server' | 'client'
  /** A span of this process, or of the sender of a request. @default the active span of the process, if there is one */
  readonly parent?: Span | TraceContext | 'none'
  /** A span of another trace that this one has to do with. */
  readonly link?: TraceContext
  readonly attributes?: SpanAttributes
  /** When it began, as {@link Tracer.now} tells the time. @default now */
  readonly startTime?: number
}

/** One operation of a trace. Nothing is sent before it ends. */
export interface Span {
  /** False when the trace is not sampled: what is expensive to find out is then not worth finding out. */
  readonly isRecording: boolean
  /** What requests on behalf of this span carry; undefined when nothing collects traces. */
  readonly context: TraceContext | undefined
  setAttributes(attributes: SpanAttributes): void
  /** @default now */
  addEvent(name: string, attributes?: SpanAttributes, time?: number): void
  /** The operation failed, with `error` if there is one. */
  fail(error?: unknown): void
  /** Calls `work` with this span as the active one of the process, for libraries that make spans of their own. */
  run<T>(work: () => T): T
  /** Once. @default now */
  end(time?: number): void
}

/** Where spans come from. Code that is given none makes none: `env.tracer?.startSpan(...)`. */
export interface Tracer {
  /** The time in milliseconds since the epoch, with fractions. */
  now(): number
  startSpan(name: string, options?: SpanOptions): Span
}
