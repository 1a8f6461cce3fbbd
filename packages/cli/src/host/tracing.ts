import type { Clock, Env, Logger, Tracer } from '@coxswain/kit'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { CommandError } from '../exit.ts'
import { readFlagFile } from './flag-file.ts'
import { exporterUrl, readTracingConfiguration, type TracingConfiguration } from './tracing-configuration.ts'

const flag = 'tracing-config-file'

export interface TracingFlags {
  readonly tracingConfigFile?: string
}

/** Where spans of one service go; disposing of it sends what is left. */
export interface Tracing extends AsyncDisposable {
  readonly tracer: Tracer | undefined
}

const noTracing: Tracing = { tracer: undefined, async [Symbol.asyncDispose]() {} }

/** How long sending what is left may take at the end, in milliseconds. */
const flushTime = 2_000

/** Spans go where a TracingConfiguration says. Without one none are made, and nothing of OpenTelemetry is loaded. */
export async function openTracing(
  { tracingConfigFile: file }: TracingFlags,
  service: string,
  env: Env,
): Promise<Tracing> {
  if (file === undefined) return noTracing
  return await exportSpans(readFlagFile(flag, file, readTracingConfiguration), service, env)
}

/** As `openTracing`; without a configuration spans go to the provider that the process has registered, if there is one. */
export async function openOperatorTracing(flags: TracingFlags, service: string, env: Env): Promise<Tracing> {
  if (flags.tracingConfigFile !== undefined) return await openTracing(flags, service, env)
  // The place where every copy of @opentelemetry/api 1.x looks for what the process has registered.
  if (!(Symbol.for('opentelemetry.js.api.1') in globalThis)) return noTracing
  const { createOpenTelemetryTracer, hasTracerProvider } = await load()
  return hasTracerProvider() ? { ...noTracing, tracer: createOpenTelemetryTracer(env) } : noTracing
}

async function exportSpans(
  { endpoint, samplingRatePerMillion: rate }: TracingConfiguration,
  service: string,
  { clock, log, random }: Env,
): Promise<Tracing> {
  const { createOpenTelemetryTracer, sdk, resources, exporter: otlp } = await loadExporter()
  if (endpoint.startsWith('unix')) process.env.OTEL_EXPORTER_OTLP_TRACES_INSECURE ??= 'true'
  const exporter = tellFailures(new otlp.OTLPTraceExporter({ url: exporterUrl(endpoint) }), log)
  const provider = new sdk.TracerProvider({
    sampler: new sdk.ParentBasedSampler({
      root: rate > 0 ? new sdk.TraceIdRatioBasedSampler(rate / 1e6) : new sdk.AlwaysOffSampler(),
    }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
    resource: resources.resourceFromAttributes({
      'service.name': service,
      'service.instance.id': random.uuid(),
    }),
  })
  return {
    tracer: createOpenTelemetryTracer({ clock, provider }),
    [Symbol.asyncDispose]: () => within(flushTime, clock, provider.shutdown()),
  }
}

/** Gives up on work that takes too long: a collector that does not answer holds up no stop. */
async function within(ms: number, clock: Clock, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const late = clock.sleep(ms, { signal: done.signal }).catch(() => {})
  await Promise.race([work.catch(() => {}), late])
  done.abort()
}

/** A collector that is away is worth one line, and one when it is back. */
function tellFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false
  return {
    export(spans, onResult) {
      exporter.export(spans, result => {
        const failed = result.code !== 0
        if (failed && !isFailing) log.warn('traces cannot be exported', { error: result.error })
        if (!failed && isFailing) log.info('traces are exported again')
        isFailing = failed
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => await exporter.forceFlush?.(),
  }
}

async function loadExporter() {
  try {
    return {
      ...(await load()),
      sdk: await import('@opentelemetry/sdk-trace'),
      resources: await import('@opentelemetry/resources'),
      exporter: await import('@opentelemetry/exporter-trace-otlp-grpc'),
    }
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new CommandError(
      `--${flag} needs packages of OpenTelemetry, run: npm install @opentelemetry/api @opentelemetry/sdk-trace @opentelemetry/resources @opentelemetry/exporter-trace-otlp-grpc`,
      { cause },
    )
  }
}

async function load() {
  return await import('@coxswain/kit/opentelemetry')
}
