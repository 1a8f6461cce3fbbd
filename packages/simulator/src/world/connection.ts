import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { aborted, type Clock, decodeText, encodeText, type Random } from '@coxswain/kit'
import {
  isStream,
  joinChunks,
  type Transport,
  TransportError,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { describeFault, type Fault } from '../fault.ts'
import type { RunLog } from './run-log.ts'
import { findSourceLine } from './source-line.ts'
import { type ApiPath, describeWrite, parseApiPath, resourceOf, type WriteRecord } from './trace.ts'
import { expiredEvent, watchLines } from './watch-events.ts'

/** What a connection needs to know of the process that uses it, and can do to it. */
export interface ConnectionOwner {
  readonly replica: number
  /** Ends the process at once: nothing of it gets through any more. */
  kill(staleRevision: number | undefined): void
  pause(): void
  resume(): void
}

export interface ConnectionOptions {
  readonly inner: Transport
  readonly log: RunLog
  readonly owner: ConnectionOwner
  readonly clock: Clock
  /** Decides latencies. */
  readonly random: Random
  /** The newest revision of the store. */
  readonly revision: () => number
  /** The first lists of this process show this revision. */
  readonly staleRevision: number | undefined
}

/** How long a process that is connected to a lagging server sees nothing newer, in milliseconds. */
const lag = 3_000
/** More writes than a scenario can need. */
const mostWrites = 1_000
/** The most milliseconds that a request, a response or an event takes. */
const latency = 5

/** The connection of one process of the operator: every request passes here, and so does everything that goes wrong with it. */
export class Connection implements Transport {
  readonly #options: ConnectionOptions
  /** Resources whose stale state the process has seen. */
  readonly #caughtUp = new Set<string>()
  #isDead = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** From now on nothing gets through in either direction. */
  sever(): void {
    this.#isDead = true
  }

  async send(request: WireRequest): Promise<WireResponse> {
    if (this.#isDead) return await never(request.signal)
    const path = parseApiPath(request.path)
    if (isWrite(request, path)) return await this.#write(request)
    await this.#pass(request.signal)
    const isWatch = /(?:^|&)watch=(?:1|true)/.test(request.query)
    const resource = resourceOf(path)
    if (isWatch) this.#refuseBlocked(resource)
    if (isWatch && this.#options.log.expired.delete(resource)) return expiredAnswer
    const stale = this.#staleAnswer(request, { resource, isWatch })
    const response = await (stale ?? this.#options.inner.send(request))
    await this.#pass(request.signal)
    const { body } = response
    if (!isWatch || !isStream(body)) return response
    return { ...response, body: this.#watch(body, resource, request.signal) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.inner[Symbol.asyncDispose]()
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options
    await clock.sleep(1 + random.below(latency), { signal })
    if (this.#isDead) await never(signal)
  }

  async #write(request: WireRequest): Promise<WireResponse> {
    const { log, owner, clock, inner } = this.#options
    if (log.writes.length >= mostWrites) {
      log.isFlooded = true
      return await never(request.signal)
    }
    const record = this.#record(request)
    const faults = log.strike(fault => 'write' in fault && fault.write === record.number)
    for (const fault of faults) log.note(describeFault(fault, () => describeWrite(record)))
    const has = (name: Fault['fault']) => faults.find(({ fault }) => fault === name)
    await this.#pass(request.signal)
    const pause = has('pause')
    if (pause?.fault === 'pause') {
      owner.pause()
      await clock.sleep(pause.ms)
      owner.resume()
    }
    const crash = has('crash')
    if (crash?.fault === 'crash' && crash.when === 'before') {
      owner.kill(this.#revisionBefore(record, crash.staleBy))
      return await never(request.signal)
    }
    if (has('lose-request')) throw new TransportError('ConnectionLost', 'socket hang up')
    const reject = has('reject')
    if (reject?.fault === 'reject') {
      record.status = reject.status
      return rejection(reject.status)
    }
    const response = await inner.send(request)
    remember(record, response)
    if (has('duplicate')) await inner.send({ ...request, headers: { ...request.headers } })
    if (crash) {
      owner.kill(crash.fault === 'crash' ? this.#revisionBefore(record, crash.staleBy) : undefined)
      return await never(request.signal)
    }
    await this.#pass(request.signal)
    if (has('lose-response')) throw new TransportError('ConnectionLost', 'socket hang up')
    return response
  }

  #record(request: WireRequest): WriteRecord {
    const { log, owner, revision } = this.#options
    const record: WriteRecord = {
      number: log.writes.length + 1,
      time: log.time,
      replica: owner.replica,
      method: request.method,
      path: request.path,
      body: request.body && decodeText(request.body),
      status: undefined,
      object: undefined,
      line: log.isTraced ? findSourceLine() : undefined,
      revision: revision(),
    }
    log.writes.push(record)
    log.trace.push(Object.assign(record, { entry: 'write' as const }))
    return record
  }

  /** The store's revision before the write that is `staleBy` writes before this one. */
  #revisionBefore({ number }: WriteRecord, staleBy: number | undefined): number | undefined {
    if (staleBy === undefined) return undefined
    return this.#options.log.writes[Math.max(0, number - staleBy)]?.revision
  }

  #refuseBlocked(resource: string): void {
    const { log, clock } = this.#options
    const until = log.blocked.get(resource)
    if (until === undefined) return
    if (clock.monotonic() < until)
      throw new TransportError('ConnectFailed', 'connection refused', { sent: false })
    log.blocked.delete(resource)
  }

  /** What a server that lags behind answers; undefined where it has caught up. */
  #staleAnswer(
    request: WireRequest,
    { resource, isWatch }: { readonly resource: string; readonly isWatch: boolean },
  ): Promise<WireResponse> | undefined {
    const { staleRevision, inner, clock } = this.#options
    if (staleRevision === undefined || this.#caughtUp.has(resource)) return undefined
    if (isWatch && request.query.includes('sendInitialEvents=true')) return Promise.resolve(noWatchList)
    if (isWatch) {
      this.#caughtUp.add(resource)
      return clock.sleep(lag, { signal: request.signal }).then(() => inner.send(request))
    }
    const isList = request.method === 'GET' && parseApiPath(request.path).name === undefined
    if (!isList || !/(?:^|&)resourceVersion=0(?:&|$)/.test(request.query)) return undefined
    const query = request.query.replace(/(^|&)resourceVersion=0(?=&|$)/, `$1resourceVersion=${staleRevision}`)
    return inner.send({ ...request, query: `${query}&resourceVersionMatch=Exact` })
  }

  async *#watch(
    body: AsyncIterable<Uint8Array>,
    resource: string,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { log, clock } = this.#options
    for await (const { line, isEvent } of this.#delayed(body, resource, signal)) {
      if (this.#isDead) await never(signal)
      if (isEvent) {
        const number = (log.events.get(resource) ?? 0) + 1
        log.events.set(resource, number)
        const faults = log.strike(
          fault => 'event' in fault && fault.resource === resource && fault.event === number,
        )
        for (const fault of faults) {
          log.note(describeFault(fault, String))
          if (fault.fault === 'hide-events') {
            log.blocked.set(resource, clock.monotonic() + fault.ms)
            log.expired.add(resource)
          }
        }
        if (faults.length > 0) throw new TransportError('ConnectionLost', 'connection reset')
      }
      await this.#pass(signal)
      yield line
    }
  }

  /** Events that arrive late, each by the same time. */
  async *#delayed(
    body: AsyncIterable<Uint8Array>,
    resource: string,
    signal: AbortSignal,
  ): ReturnType<typeof watchLines> {
    const { log, clock } = this.#options
    const fault = log.faults.find(
      each => each.fault === 'stale-watch' && (each.resource === undefined || each.resource === resource),
    )
    if (fault?.fault !== 'stale-watch') return yield* watchLines(body)
    const waiting: { readonly line: Uint8Array; readonly isEvent: boolean; readonly due: number }[] = []
    let wake = Promise.withResolvers<void>()
    let end: { readonly error?: unknown } | undefined
    const pump = async () => {
      try {
        for await (const each of watchLines(body)) {
          waiting.push({ ...each, due: clock.monotonic() + (log.isArmed ? fault.ms : 0) })
          wake.resolve()
        }
        end = {}
      } catch (error) {
        end = { error }
      }
      wake.resolve()
    }
    void pump()
    for (;;) {
      const next = waiting.shift()
      if (next) {
        const wait = next.due - clock.monotonic()
        if (wait > 0) await clock.sleep(wait, { signal })
        yield next
      } else if (end) {
        if ('error' in end) throw end.error
        return
      } else {
        await wake.promise
        wake = Promise.withResolvers<void>()
      }
    }
  }
}

/** Events, leases and reviews are not the operator's work. */
function isWrite({ method, query }: WireRequest, { group, resource }: ApiPath): boolean {
  if (method === 'GET' || method === 'HEAD' || query.includes('dryRun=All')) return false
  return (
    resource !== 'events' &&
    resource !== 'leases' &&
    !/^(?:authentication|authorization)\.k8s\.io$/.test(group)
  )
}

function remember(record: WriteRecord, { status, body }: WireResponse): void {
  record.status = status
  if (!body || isStream(body) || status >= 300) return
  const object: unknown = JSON.parse(decodeText(body instanceof Uint8Array ? body : joinChunks(body)))
  if (isObject(object)) record.object = object as JsonObject
}

const reasons: Readonly<Record<number, string>> = {
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function rejection(code: number): WireResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'rejected by the simulator',
    reason: reasons[code],
    code,
  }
  return {
    status: code,
    headers: { 'content-type': 'application/json', ...(code === 429 && { 'retry-after': '1' }) },
    body: encodeText(JSON.stringify(status)),
  }
}

/** As a server answers that does not know watch-lists: the client lists instead. */
const noWatchList = rejection(422)

const expiredAnswer: WireResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: expiredEvent,
}

async function never(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw signal.reason
}
