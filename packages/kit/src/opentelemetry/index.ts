/** Spans by OpenTelemetry. Needs the package `@opentelemetry/api`, which nothing else here does. */
export {
  createOpenTelemetryTracer,
  hasTracerProvider,
  type OpenTelemetryTracerOptions,
} from './opentelemetry-tracer.ts'
