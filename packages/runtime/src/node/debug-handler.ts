import { Session } from 'node:inspector/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { getHeapSnapshot } from 'node:v8'
import { type Env, type LogLevel, type LogThreshold, logLevels } from '@coxswain/kit'
import type { Handler, WireRequest, WireResponse } from '@coxswain/wire'
import { isRead, jsonAnswer, plainText } from '../endpoints/plain-text.ts'
import type { RecentReconciles } from '../endpoints/recent-reconciles.ts'

/** Options of {@link createDebugHandler}. */
export interface DebugOptions {
  readonly env: Env
  readonly reconciles: RecentReconciles
  /** @default the log level can be neither read nor changed */
  readonly logLevel?: LogThreshold
}

/** A handler of `/debug` paths; disposing it stops its measurements. */
export interface DebugHandler extends Disposable {
  readonly handler: Handler
}

const usualSeconds = 30
const mostSeconds = 300
const nanosecondsPerMillisecond = 1e6
/** How often the event loop is looked at, in milliseconds. What Node measures includes this time. */
const resolution = 20

const contentsPaths = ['/', '/debug', '/debug/', '/debug/pprof', '/debug/pprof/']
const contents = `/debug/pprof/profile?seconds=30   CPU profile (.cpuprofile)
/debug/pprof/heap                 heap snapshot (.heapsnapshot); the process stands still while it is taken
/debug/pprof/eventloop            by how many milliseconds timers were late, since it was read last
/debug/reconciles                 the last reconciles; ?controller=NAME&key=NAMESPACE/NAME
/debug/log-level                  GET, or PUT debug, info, warn, error
`

/** Serves CPU profiles, heap snapshots, event loop delay, recent reconciles and the log level. One profile or snapshot is taken at a time. */
export function createDebugHandler({ env, reconciles, logLevel }: DebugOptions): DebugHandler {
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  let isProfiling = false
  const alone = async (take: () => Promise<WireResponse>): Promise<WireResponse> => {
    if (isProfiling) return plainText(500, 'another profile or snapshot is being taken\n')
    isProfiling = true
    const end = (): void => {
      isProfiling = false
    }
    try {
      const answer = await take()
      // A snapshot is in memory until the client has read it.
      if (answer.body instanceof Readable) answer.body.once('close', end)
      else end()
      return answer
    } catch (error) {
      end()
      throw error
    }
  }
  const routes = new Map<string, (request: WireRequest) => Promise<WireResponse> | WireResponse>([
    ...contentsPaths.map(path => [path, () => plainText(200, contents)] as const),
    ['/debug/pprof/profile', request => alone(() => takeProfile(request, env))],
    ['/debug/pprof/heap', () => alone(async () => takeSnapshot())],
    ['/debug/pprof/eventloop', () => jsonAnswer(readDelay(delay))],
    ['/debug/reconciles', request => jsonAnswer(listReconciles(reconciles, request))],
  ])
  const handler: Handler = async request => {
    const { method, path } = request
    if (path === '/debug/log-level' && logLevel) return answerLogLevel(request, logLevel, env)
    const route = routes.get(path)
    if (!route) return plainText(404, 'not found\n')
    // The answer to a HEAD is not worth a profile, nor a reset of the delays.
    return method === 'GET' ? await route(request) : plainText(405, 'method not allowed\n')
  }
  return { handler, [Symbol.dispose]: () => void delay.disable() }
}

async function takeProfile({ query, signal }: WireRequest, { clock }: Env): Promise<WireResponse> {
  const text = new URLSearchParams(query).get('seconds') ?? String(usualSeconds)
  const seconds = Number(text)
  if (!/^\d+$/.test(text) || seconds < 1 || seconds > mostSeconds)
    return plainText(400, `seconds must be a number from 1 to ${mostSeconds}\n`)
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await clock.sleep(seconds * 1_000, { signal }).catch(() => {}) // the client has disconnected
    const { profile } = await session.post('Profiler.stop')
    return file('profile.cpuprofile', new TextEncoder().encode(JSON.stringify(profile)))
  } finally {
    session.disconnect()
  }
}

function takeSnapshot(): WireResponse {
  return { ...file('heap.heapsnapshot', getHeapSnapshot()), unhurried: false }
}

function file(name: string, body: NonNullable<WireResponse['body']>): WireResponse {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
  }
  return { status: 200, headers, body }
}

function readDelay(delay: ReturnType<typeof monitorEventLoopDelay>): Record<string, number> {
  const milliseconds = (value: number) => (Number.isFinite(value) ? value / nanosecondsPerMillisecond : 0)
  const late = (value: number) => Math.max(0, milliseconds(value) - resolution)
  const { min, max, mean, stddev } = delay
  const read = {
    min: delay.count === 0 ? 0 : late(min),
    mean: late(mean),
    stddev: milliseconds(stddev),
    p50: late(delay.percentile(50)),
    p90: late(delay.percentile(90)),
    p99: late(delay.percentile(99)),
    max: late(max),
    count: delay.count,
  }
  delay.reset()
  return read
}

function listReconciles(reconciles: RecentReconciles, { query }: WireRequest): unknown[] {
  const wanted = new URLSearchParams(query)
  const matches = (name: string, value: string) => (wanted.get(name) ?? value) === value
  return reconciles
    .list()
    .filter(({ controller, key }) => matches('controller', controller) && matches('key', key))
    .map(record => ({
      ...record,
      started: new Date(record.started).toISOString(),
      ...(record.error !== undefined && {
        error:
          record.error instanceof Error ? (record.error.stack ?? record.error.message) : String(record.error),
      }),
    }))
}

/** `debug`, or `{"level":"debug"}`. */
function answerLogLevel({ method, body }: WireRequest, threshold: LogThreshold, { log }: Env): WireResponse {
  if (isRead(method)) return jsonAnswer({ level: threshold.level })
  if (method !== 'PUT') return plainText(405, 'method not allowed\n')
  const [, wanted] = /^\s*(?:\{\s*"level"\s*:\s*"(?=.*\}))?(\w+)/.exec(new TextDecoder().decode(body)) ?? []
  const level = logLevels.find((each): each is LogLevel => each === wanted)
  if (!level) return plainText(400, `level must be one of ${logLevels.join(', ')}\n`)
  threshold.level = level
  log.warn('the log level was changed', { to: level })
  return jsonAnswer({ level })
}
