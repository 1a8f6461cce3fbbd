import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type Clock, decodeText, encodeText } from '@coxswain/kit'
import { type Handler, isStream, joinChunks, type WireRequest, type WireResponse } from '@coxswain/wire'
import { describeFault } from '../fault.ts'
import { RunLog } from '../world/run-log.ts'
import { type ApiPath, describeWrite, parseApiPath, resourceOf, type WriteRecord } from '../world/trace.ts'
import { expiredEvent, watchLines } from '../world/watch-events.ts'
import type { TortureFault } from './faults.ts'

/** The process behind the connection. */
export interface TorturedProcess {
  /** Ends it at once, and starts another after a while; its first lists then show this revision. */
  kill(staleRevision: number | undefined): void
  pause(): void
  resume(): void
}

export interface FaultyServerOptions {
  readonly clock: Clock
  readonly faults: readonly TortureFault[]
  /** The newest revision of the store. */
  readonly revision: () => number
  readonly process: TorturedProcess
}

/** How long a lagging server shows nothing newer, in milliseconds. */
const lag = 1_500
/** More writes than a scenario can need. */
const mostWrites = 2_000

/** The server as one process sees it: every request passes here, and so does everything that goes wrong with it. */
export class FaultyServer {
  readonly #options: FaultyServerOptions
  readonly log: RunLog
  /** When the last request that changes something arrived, by the clock's monotonic time. */
  lastWrite: number
  /** The revision that the present process sees first, and the resources for which it has caught up. */
  /** Requests of all processes. */
  requests = 0
  /** Resources that the present process watches. */
  readonly watched: Set<string> = new Set()
  #inner: Handler = async () => statusResponse(503)
  #stale: { readonly revision: number; readonly caughtUp: Set<string> } | undefined

  constructor(options: FaultyServerOptions) {
    this.#options = options
    this.log = new RunLog(options.faults, options.clock)
    this.lastWrite = options.clock.monotonic()
  }

  /** A new process is connected. */
  connect(staleRevision: number | undefined): void {
    this.watched.clear()
    this.#stale = staleRevision === undefined ? undefined : { revision: staleRevision, caughtUp: new Set() }
  }

  /** Answers a request of the process; `inner` is the real server. */
  async handle(received: WireRequest, inner: Handler): Promise<WireResponse> {
    this.#inner = inner
    const request = withJson(received)
    this.requests++
    const path = parseApiPath(request.path)
    if (isWork(request, path)) return await this.#write(request)
    const isWatch = /(?:^|&)watch=(?:1|true)/.test(request.query)
    const resource = resourceOf(path)
    if (isWatch) {
      const until = this.log.blocked.get(resource)
      if (until !== undefined && this.#options.clock.monotonic() < until) return broken()
      if (this.log.expired.delete(resource)) return expiredAnswer
    }
    const response = await (this.#staleAnswer(request, { resource, isWatch }) ?? inner(request))
    const { body } = response
    if (!isWatch || !isStream(body)) return response
    this.watched.add(resource)
    return { ...response, body: this.#watch(body, resource) }
  }

  async #write(request: WireRequest): Promise<WireResponse> {
    const { clock, process, revision } = this.#options
    const { log } = this
    const inner = this.#inner
    this.lastWrite = clock.monotonic()
    if (log.writes.length >= mostWrites) {
      log.isFlooded = true
      return statusResponse(503)
    }
    const record = this.#record(request, revision())
    const faults = log.strike(fault => 'write' in fault && fault.write === record.number) as TortureFault[]
    for (const fault of faults) log.note(describeFault(fault, () => describeWrite(record)))
    const crash = faults.find(fault => fault.fault === 'crash')
    for (const fault of faults) {
      if (fault.fault === 'pause') {
        process.pause()
        await clock.sleep(fault.ms)
        process.resume()
      }
      if (fault.fault === 'crash' && fault.when === 'before') {
        process.kill(this.#revisionBefore(record, fault.staleBy))
        return broken()
      }
      if (fault.fault === 'lose-request') return broken()
      if (fault.fault === 'reject') {
        record.status = fault.status
        return statusResponse(fault.status)
      }
    }
    const response = await inner(request)
    remember(record, response)
    if (faults.some(({ fault }) => fault === 'duplicate')) await inner(changed(request, {}))
    if (crash) {
      process.kill(this.#revisionBefore(record, crash.staleBy))
      return broken()
    }
    return faults.some(({ fault }) => fault === 'lose-response') ? broken() : response
  }

  #record({ method, path, body }: WireRequest, revision: number): WriteRecord {
    const { log } = this
    const record: WriteRecord = {
      number: log.writes.length + 1,
      time: log.time,
      replica: 1,
      method,
      path,
      body: body && decodeText(body),
      status: undefined,
      object: undefined,
      line: undefined,
      revision,
    }
    log.writes.push(record)
    log.trace.push(Object.assign(record, { entry: 'write' as const }))
    return record
  }

  #revisionBefore({ number }: WriteRecord, staleBy: number | undefined): number | undefined {
    if (staleBy === undefined) return undefined
    return this.log.writes[Math.max(0, number - staleBy)]?.revision
  }

  /** What a server that lags behind answers; undefined where it has caught up. */
  #staleAnswer(
    request: WireRequest,
    { resource, isWatch }: { readonly resource: string; readonly isWatch: boolean },
  ): Promise<WireResponse> | undefined {
    const stale = this.#stale
    const { clock } = this.#options
    const inner = this.#inner
    if (!stale || stale.caughtUp.has(resource)) return undefined
    // As a server answers that does not know watch-lists: the client lists instead.
    if (isWatch && request.query.includes('sendInitialEvents=true'))
      return Promise.resolve(statusResponse(422))
    if (isWatch) {
      stale.caughtUp.add(resource)
      return clock.sleep(lag, { signal: request.signal }).then(() => inner(request))
    }
    const isList = request.method === 'GET' && parseApiPath(request.path).name === undefined
    if (!isList || !/(?:^|&)resourceVersion=0(?:&|$)/.test(request.query)) return undefined
    const query = request.query.replace(
      /(^|&)resourceVersion=0(?=&|$)/,
      `$1resourceVersion=${stale.revision}`,
    )
    return inner(changed(request, { query: `${query}&resourceVersionMatch=Exact` }))
  }

  /** Counts an event of a watch; true if the watch breaks before it. */
  #strikeWatch(resource: string): boolean {
    const { log } = this
    const event = 1 + (log.events.get(resource) ?? 0)
    log.events.set(resource, event)
    const struck = log.strike(each => 'event' in each && each.event === event && each.resource === resource)
    for (const each of struck) {
      if (each.fault === 'hide-events') {
        log.expired.add(resource)
        log.blocked.set(resource, this.#options.clock.monotonic() + each.ms)
      }
      log.note(describeFault(each, String))
    }
    return struck.length > 0
  }

  async *#watch(
    body: AsyncIterable<Uint8Array>,
    resource: string,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { log } = this
    const { clock } = this.#options
    const late = log.faults.find(
      fault => fault.fault === 'stale-watch' && (fault.resource === undefined || fault.resource === resource),
    )
    let promptUntil = -1
    for await (const { line, isEvent } of watchLines(body)) {
      if (isEvent) {
        if (this.#strikeWatch(resource)) throw new Error('the watch is cut')
        if (late?.fault === 'stale-watch' && log.isArmed) {
          log.struck.add(late)
          // What arrives while an event waits is as late as that one.
          if (clock.monotonic() > promptUntil) await clock.sleep(late.ms)
          promptUntil = clock.monotonic() + 100
        }
      }
      yield line
    }
  }
}

/** Clients that prefer protobuf accept JSON, too; faults are made in lines of JSON. */
function withJson(request: WireRequest): WireRequest {
  const accept = String(request.headers.accept ?? '')
  if (!accept.includes('protobuf')) return request
  const kept = accept.split(',').filter(type => !type.includes('protobuf'))
  return changed(request, { headers: { ...request.headers, accept: kept.join(',') || 'application/json' } })
}

/** A request from a socket is no plain record: its members are read one by one. */
function changed(request: WireRequest, changes: Partial<WireRequest>): WireRequest {
  const { method, path, query, headers, body, peer, remoteAddress, signal } = request
  return {
    method,
    path,
    query,
    headers,
    ...(body && { body }),
    ...(peer && { peer }),
    ...(remoteAddress !== undefined && { remoteAddress }),
    signal,
    ...changes,
  }
}

/** Events, leases and reviews are not the operator's work. */
function isWork({ method, query }: WireRequest, { group, resource }: ApiPath): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || query.includes('dryRun=All'))
    return false
  if (resource === 'events' || resource === 'leases') return false
  return group !== 'authentication.k8s.io' && group !== 'authorization.k8s.io'
}

function remember(record: WriteRecord, { status, body }: WireResponse): void {
  record.status = status
  if (!body || isStream(body) || status >= 300) return
  const object: unknown = JSON.parse(decodeText(body instanceof Uint8Array ? body : joinChunks(body)))
  if (isObject(object)) record.object = object as JsonObject
}

/** A connection that breaks before the body of the response. */
function broken(): WireResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: cut() }
}

// biome-ignore lint/correctness/useYield: it breaks before it yields
async function* cut(): AsyncGenerator<Uint8Array, void, undefined> {
  throw new Error('the connection is cut')
}

const reasons: Readonly<Record<number, string>> = {
  409: 'Conflict',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function statusResponse(code: number): WireResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'rejected by coxswain torture',
    reason: reasons[code],
    code,
  }
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: encodeText(JSON.stringify(status)),
  }
}

const expiredAnswer: WireResponse = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: expiredEvent,
}
