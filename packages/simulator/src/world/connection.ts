import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { aborted, type Clock, decodeText, type Random } from '@coxswain/kit'
import {
  isStream,
  joinChunks,
  type Transport,
  TransportError,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { describeFault, type Fault } from '../fault.ts'
import { denialTexts, expiredAnswer, noWatchList, rejection } from './rejections.ts'
import type { RunLog } from './run-log.ts'
import { SeenVersions } from './seen-versions.ts'
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
  /** Moves the clock that the process sees. */
  jump(ms: number): void
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
  /** Does what another client does right after a write. */
  readonly interfere: (fault: Fault, write: WriteRecord) => Promise<void>
  /** Called with a write that replaced what the process had not seen, in words. */
  readonly onStaleWrite: (text: string) => void
}

/** How long a process that is connected to a lagging server sees nothing newer, in milliseconds. */
const lag = 3_000
/** More writes than a scenario can need. */
const mostWrites = 600
/** The most milliseconds that a request, a response or an event takes. */
const latency = 5

/** The connection of one process of the operator: every request passes here, and so does everything that goes wrong with it. */
export class Connection implements Transport {
  readonly #options: ConnectionOptions
  /** Resources whose stale state the process has seen. */
  readonly #caughtUp = new Set<string>()
  readonly #seen = new SeenVersions()
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
    if (path.resource === 'leases') this.#refuseLease()
    await this.#pass(request.signal)
    const isWatch = /(?:^|&)watch=(?:1|true)/.test(request.query)
    if (!isWatch && request.method === 'GET') await this.#read(request.signal)
    const resource = resourceOf(path)
    if (isWatch) this.#refuseBlocked(resource)
    if (isWatch && this.#options.log.expired.delete(resource)) return expiredAnswer
    const stale = this.#staleAnswer(request, { resource, isWatch })
    const response = await (stale ?? this.#options.inner.send(request))
    await this.#pass(request.signal)
    const { body } = response
    if (body instanceof Uint8Array) this.#seen.noteLine(body)
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

  /** Counts a read, and ends the process in it where a fault has it. */
  async #read(signal: AbortSignal): Promise<void> {
    const { log, owner } = this.#options
    const number = ++log.reads
    const [fault] = log.strike(each => each.fault === 'crash-read' && each.read === number)
    if (!fault) return
    log.note(describeFault(fault, String))
    owner.kill(undefined)
    await never(signal)
  }

  #refuseLease(): void {
    const { log, owner, clock } = this.#options
    if (clock.monotonic() < (log.leaseBlocks.get(owner.replica) ?? 0))
      throw new TransportError('ConnectFailed', 'connection refused', { sent: false })
  }

  async #write(request: WireRequest): Promise<WireResponse> {
    const { log, inner } = this.#options
    if (log.writes.length >= mostWrites) {
      log.isFlooded = true
      return await never(request.signal)
    }
    const record = this.#record(request)
    const faults = log.strike(fault => 'write' in fault && fault.write === record.number)
    for (const fault of faults) log.note(describeFault(fault, () => describeWrite(record)))
    await this.#pass(request.signal)
    for (const fault of faults) await this.#before(fault, record, request)
    const answer = this.#answerInstead(faults, record)
    if (answer) {
      record.status = answer.status
      return answer
    }
    const replaced = isUnconditional(record) ? await this.#readReplaced(request) : undefined
    const response = await inner.send(request)
    remember(record, response)
    this.#seen.note(record.object)
    if (replaced && response.status < 300) this.#checkReplaced(replaced, record)
    for (const fault of faults) await this.#after(fault, record, request)
    await this.#pass(request.signal)
    if (faults.some(({ fault }) => fault === 'lose-response'))
      throw new TransportError('ConnectionLost', 'socket hang up')
    return response
  }

  /** What goes wrong before a write reaches the server. */
  async #before(fault: Fault, record: WriteRecord, request: WireRequest): Promise<void> {
    const { log, owner, clock } = this.#options
    switch (fault.fault) {
      case 'pause':
        owner.pause()
        await clock.sleep(fault.ms)
        return owner.resume()
      case 'clock-jump':
        return owner.jump(fault.ms)
      case 'lose-lease':
        log.leaseBlocks.set(owner.replica, clock.monotonic() + fault.ms)
        return
      case 'deny':
        log.denials.set(resourceOf(parseApiPath(record.path)), {
          until: clock.monotonic() + fault.ms,
          why: fault.why,
        })
        return
      case 'crash':
        if (fault.when === 'after') return
        owner.kill(this.#revisionBefore(record, fault.staleBy))
        return await never(request.signal)
      case 'crash-in-flight':
        this.#deliverLate(record, request, fault.ms)
        owner.kill(undefined)
        return await never(request.signal)
      case 'lose-request':
        throw new TransportError('ConnectionLost', 'socket hang up')
    }
  }

  /** Delivers a request whose sender no longer exists. */
  #deliverLate(record: WriteRecord, request: WireRequest, ms: number): void {
    const { inner, clock, log } = this.#options
    const deliver = async () => {
      log.trace.push({ entry: 'late', time: log.time, text: describeWrite(record) })
      remember(record, await inner.send({ ...request, signal: new AbortController().signal }))
    }
    clock.after(ms, () => void deliver().catch(() => {}))
  }

  /** What the operator gets instead of the server's response. */
  #answerInstead(faults: readonly Fault[], { path }: WriteRecord): WireResponse | undefined {
    const { log, clock } = this.#options
    const reject = faults.find(({ fault }) => fault === 'reject')
    if (reject?.fault === 'reject') return rejection(reject.status, 'rejected by the simulator')
    const denial = log.denials.get(resourceOf(parseApiPath(path)))
    if (!denial || clock.monotonic() >= denial.until || !log.isArmed) return undefined
    return rejection(403, denialTexts[denial.why])
  }

  /** What goes wrong after a write was done. */
  async #after(fault: Fault, record: WriteRecord, request: WireRequest): Promise<void> {
    const { inner, owner, interfere } = this.#options
    switch (fault.fault) {
      case 'duplicate':
        await inner.send({ ...request, headers: { ...request.headers } })
        return
      case 'edit':
      case 'terminate-namespace':
      case 'upgrade-definition':
        return await interfere(fault, record)
      case 'crash':
        owner.kill(this.#revisionBefore(record, fault.staleBy))
        return await never(request.signal)
    }
  }

  /** The object that an update without a resourceVersion is about to replace. */
  async #readReplaced({ path, headers, signal }: WireRequest): Promise<JsonObject | undefined> {
    const { inner } = this.#options
    const response = await inner.send({ method: 'GET', path, query: '', headers, signal })
    return response.status === 200 ? readObject(response) : undefined
  }

  #checkReplaced(replaced: JsonObject, record: WriteRecord): void {
    if (this.#seen.hasSeen(replaced)) return
    this.#options.onStaleWrite(
      `write ${record.number} (${describeWrite(record)}) has no resourceVersion, and replaced a state that the operator had not seen`,
    )
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
          if (fault.fault === 'bookmarks-only') await clock.sleep(fault.ms, { signal })
          if (fault.fault === 'expire-watch') return yield expiredEvent
          if (fault.fault === 'hide-events') {
            log.blocked.set(resource, clock.monotonic() + fault.ms)
            log.expired.add(resource)
          }
        }
        if (faults.some(({ fault }) => fault === 'cut-watch' || fault === 'hide-events'))
          throw new TransportError('ConnectionLost', 'connection reset')
      }
      await this.#pass(signal)
      this.#seen.noteLine(line)
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
    const fault = log.find('stale-watch', each => each.resource === undefined || each.resource === resource)
    if (!fault) return yield* watchLines(body)
    log.struck.add(fault)
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

/** An update that says nothing about the version it was made from. */
function isUnconditional({ method, body }: WriteRecord): boolean {
  return method === 'PUT' && body !== undefined && !body.includes('"resourceVersion"')
}

function remember(record: WriteRecord, response: WireResponse): void {
  record.status = response.status
  if (response.status < 300) record.object = readObject(response)
}

function readObject({ body }: WireResponse): JsonObject | undefined {
  if (!body || isStream(body)) return undefined
  const object: unknown = JSON.parse(decodeText(body instanceof Uint8Array ? body : joinChunks(body)))
  return isObject(object) ? (object as JsonObject) : undefined
}

async function never(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw signal.reason
}
