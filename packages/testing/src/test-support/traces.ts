import { type Clock, createRealClock, type Tracer } from '@coxswain/kit'
import { createOpenTelemetryTracer } from '@coxswain/kit/opentelemetry'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
  type TracerProviderOptions,
} from '@opentelemetry/sdk-trace'

/** Spans of a real SDK, kept in memory. */
export interface CollectedTraces {
  readonly tracer: Tracer
  /** Those that have ended, in that order. */
  readonly spans: () => ReadableSpan[]
  readonly named: (name: string) => ReadableSpan | undefined
}

export function collectTraces(
  clock: Clock = createRealClock(),
  options: TracerProviderOptions = {},
): CollectedTraces {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ ...options, spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const spans = () => exporter.getFinishedSpans() as ReadableSpan[]
  return {
    tracer: createOpenTelemetryTracer({ clock, provider }),
    spans,
    named: name => spans().find(span => span.name === name),
  }
}

/** The spans of one trace by parent, each as `indent name`, children in the order in which they began. */
export function treeOf(spans: readonly ReadableSpan[], root: ReadableSpan): string[] {
  const children = spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === root.spanContext().spanId)
    .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
  return [root.name, ...children.flatMap(child => treeOf(spans, child).map(line => `  ${line}`))]
}
