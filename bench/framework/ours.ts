/** The tasks of the benchmark done with our packages: `ours.ts TASK ...`, with `--expose-gc`. */
import { Pod } from '@coxswain/api/core/v1'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { Informer } from '@coxswain/informers'
import { createRealEnv, type Env } from '@coxswain/kit'
import { createOpenTelemetryTracer } from '@coxswain/kit/opentelemetry'
import { defineOperator, listerWatcherOf, runOperator } from '@coxswain/runtime'
import { WorkQueue } from '@coxswain/workqueue'
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { liveBytes, type Result, report, residentBytes, startSignal, startStopwatch } from './task.ts'

const [task, ...args] = process.argv.slice(2)
// `traced` and `sampled=0.01` as the last argument make traces of reconciles; `warm` before it leaves out the first half of them.
const env = traced(createRealEnv(), args.at(-1))
const { signal } = new AbortController()

switch (task) {
  case 'sync':
    await sync(args[0]!, Number(args[1]))
    break
  case 'events':
    await events(args[0]!, Number(args[1]))
    break
  case 'controller':
    await reconciles({
      namespace: args[0]!,
      count: Number(args[1]),
      workers: 1,
      live: false,
      waits: true,
      warmUp: 0,
    })
    break
  case 'reconciles':
    await reconciles({
      namespace: args[0]!,
      count: Number(args[1]),
      workers: Number(args[2]),
      live: args[3] === 'live',
      waits: false,
      warmUp: args[4] === 'warm' ? Number(args[1]) / 2 : 0,
    })
    break
  case 'queue':
    await queue(Number(args[0]), Number(args[1]))
    break
  default:
    throw new Error(`unknown task ${task}`)
}
process.exit(0)

async function podInformer(namespace: string): Promise<Informer> {
  const { client } = await createClientFromKubeconfig()
  return new Informer({ source: listerWatcherOf(client, Pod, { namespace }), env })
}

async function sync(namespace: string, count: number): Promise<void> {
  const informer = await podInformer(namespace)
  let added = 0
  const registration = informer.addHandler({ onAdd: () => void added++ })
  const heapBefore = liveBytes()
  const residentBefore = residentBytes()
  const stop = startStopwatch()
  void informer.run(signal)
  await registration.synced(signal)
  const result = stop(informer.store.size)
  if (added !== count) throw new Error(`${added} objects of ${count} came`)
  report({ ...result, heap: liveBytes() - heapBefore, resident: residentBytes() - residentBefore })
}

async function events(namespace: string, count: number): Promise<void> {
  const informer = await podInformer(namespace)
  const finished = Promise.withResolvers<void>()
  let seen = 0
  const registration = informer.addHandler({
    onUpdate: () => {
      if (++seen === count) finished.resolve()
    },
  })
  void informer.run(signal)
  await registration.synced(signal)
  await startSignal()
  const stop = startStopwatch()
  await finished.promise
  report(stop(count))
}

interface ReconcileTask {
  readonly namespace: string
  readonly count: number
  readonly workers: number
  /** Whether each reconcile also reads from the server. */
  readonly live: boolean
  /** Whether those that follow the first list are counted, after the signal to begin. */
  readonly waits: boolean
  /** How many of them are not counted, since their code is still being compiled. */
  readonly warmUp: number
}

/** Each reconcile is a read from the cache and, when `live`, one from the server. */
async function reconciles({ namespace, count, workers, live, waits, warmUp }: ReconcileTask): Promise<void> {
  const { client } = await createClientFromKubeconfig({ env })
  const settled = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<Result>()
  const total = waits ? 2 * count : count
  let stop: ((count: number) => Result) | undefined
  let seen = 0
  const operator = defineOperator('bench', define => {
    define
      .controller('pods')
      .for(Pod)
      .options({ concurrency: workers })
      .reconcile(async context => {
        if (!waits && seen === warmUp) stop ??= startStopwatch()
        const pod = await context.client.get(Pod, context.key)
        if (!pod) return
        if (live) await context.client.get(Pod, context.key, { cached: false })
        if (++seen === total) finished.resolve(stop!(count - warmUp))
        else if (waits && seen === count) settled.resolve()
      })
  })
  void runOperator(operator, { client, env, signal, namespaces: [namespace] })
  if (waits) {
    await settled.promise
    await startSignal()
    stop = startStopwatch()
  }
  report(await finished.promise)
}

/** Items pass, so many at a time: all are added, then each is got and done. */
async function queue(items: number, rounds: number): Promise<void> {
  const line = new WorkQueue<string>({ clock: env.clock })
  const names = Array.from({ length: items }, (_, i) => `namespace/object-${String(i).padStart(5, '0')}`)
  const pass = async () => {
    for (const name of names) line.add(name)
    for (let i = 0; i < items; i++) line.done((await line.get())!)
  }
  for (let i = 0; i < Math.max(1, rounds / 10); i++) await pass()
  const stop = startStopwatch()
  for (let i = 0; i < rounds; i++) await pass()
  report(stop(items * rounds))
}

/** Spans are batched as an exporter would, and then dropped. */
function traced(plain: Env, how: string | undefined): Env {
  const [, ratio] = /^sampled=([\d.]+)$/.exec(how ?? '') ?? []
  if (how !== 'traced' && ratio === undefined) return plain
  const exporter = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    shutdown: async () => {},
  }
  const provider = new TracerProvider({
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    sampler: new TraceIdRatioBasedSampler(ratio === undefined ? 1 : Number(ratio)),
  })
  return { ...plain, tracer: createOpenTelemetryTracer({ clock: plain.clock, provider }) }
}
