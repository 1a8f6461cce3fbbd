import type { JsonObject } from '@coxswain/apimachinery/json'
import { newTooManyRequests } from '@coxswain/apimachinery/status'
import type { Env } from '@coxswain/kit'
import type { WireHeaders, WireResponse } from '@coxswain/wire'
import { CachedView } from '../cache/cached-view.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestContext, RequestSeat } from '../request/context.ts'
import type { Answer, Filter, Next } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'
import type { Refusal, Seat } from './fair-queues.ts'
import { comparePrecedence, compileFlowSchema, type FlowSchema } from './flow-schemas.ts'
import { balanceLevels, type Level, readLevel, updateLevels } from './priority-levels.ts'
import { estimateSeats } from './seats.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'
const schemaPrefix = `/${flowGroup}/flowschemas/`
const levelPrefix = `/${flowGroup}/prioritylevelconfigurations/`

/** How often unused seats are lent and returned. */
const balancePeriod = 10_000
/** The maximum wait of a request for a seat. */
const longestWait = 15_000
const retryAfterSeconds = 1

export interface FlowCounts {
  readonly level: string
  readonly schema: string
  dispatched: number
  readonly rejected: Map<Refusal, number>
}

/** What flow control uses of the server. */
export interface FlowControlPorts {
  readonly env: Env
  readonly cache: WatchCache
  readonly registry: Registry
}

interface Flow {
  readonly schema: FlowSchema
  readonly level: Level
}

/** API priority and fairness: which requests wait when there are more than the server runs at once. */
export class FlowControl {
  readonly #ports: FlowControlPorts
  readonly #seats: number
  readonly #schemas: CachedView<readonly FlowSchema[]>
  readonly #configs: CachedView<object>
  #levels: ReadonlyMap<string, Level> = new Map()
  #known: object | undefined
  /** Response headers combined with those of a flow: nearly all responses have one of a few constant records. */
  readonly #headers = new WeakMap<WireHeaders, { readonly flow: Flow; readonly headers: WireHeaders }>()
  /** Outcomes of requests, by level and schema; for metrics and the debug pages. */
  readonly counts: Map<string, FlowCounts> = new Map()

  constructor(ports: FlowControlPorts, seats: number) {
    this.#ports = ports
    this.#seats = seats
    this.#schemas = new CachedView(ports, [schemaPrefix], () =>
      this.#stored('flowschemas').map(compileFlowSchema).sort(comparePrecedence),
    )
    this.#configs = new CachedView(ports, [levelPrefix], () => ({}))
  }

  /** Lends seats until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports.env
    for (;;) {
      await clock.sleep(balancePeriod, { signal })
      balanceLevels(this.levels().values(), this.#seats)
    }
  }

  levels(): ReadonlyMap<string, Level> {
    const configs = this.#configs.value
    if (this.#known !== configs) {
      this.#known = configs
      const read = this.#stored('prioritylevelconfigurations').map(readLevel)
      const { clock } = this.#ports.env
      this.#levels = updateLevels(this.#levels, read, { seats: this.#seats, clock })
    }
    return this.#levels
  }

  readonly filter: Filter = (context, next) => {
    const { info } = context
    const isWatch = info.verb === 'watch'
    if (isLongRunning(info) && !isWatch) return next(context)
    const found = this.classify(context)
    if (!found) return next(context)
    const entered = this.#enter(context, found)
    return entered instanceof Promise
      ? entered.then(seat => this.#runWithSeat(context, next, found, seat))
      : this.#runWithSeat(context, next, found, entered)
  }

  #enter(context: RequestContext, { schema, level }: Flow): Seat | Refusal | Promise<Seat | Refusal> {
    return level.queues.enter(
      `${schema.name} ${schema.flowOf(context)}`,
      estimateSeats(this.#ports.registry, context),
      {
        ms: longestWait,
        request: context.request,
      },
    )
  }

  /** The seat; throws a 429 when there is none. */
  #seated(seat: Seat | Refusal, { schema, level }: Flow): Seat {
    if (typeof seat !== 'string') return seat
    const { rejected } = this.#countsOf(level, schema)
    rejected.set(seat, (rejected.get(seat) ?? 0) + 1)
    throw newTooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
  }

  /** A seat that its request can release while it waits for its client. */
  #leavable(context: RequestContext, flow: Flow, first: Seat): RequestSeat & Seat {
    let seat: Seat | undefined = first
    let isOver = false
    const leave = () => {
      seat?.release()
      seat = undefined
      leavable.isLeft = true
    }
    const leavable = {
      leave,
      isLeft: false,
      take: async () => {
        const taken = this.#seated(await this.#enter(context, flow), flow)
        if (isOver) {
          taken.release()
          return
        }
        seat = taken
        leavable.isLeft = false
      },
      release: () => {
        isOver = true
        leave()
      },
    }
    return leavable
  }

  #runWithSeat(context: RequestContext, next: Next, flow: Flow, entered: Seat | Refusal): Answer {
    const { schema, level } = flow
    let seat = this.#seated(entered, flow)
    this.#countsOf(level, schema).dispatched++
    if (context.request.receiveBody || context.delegate) {
      const leavable = this.#leavable(context, flow, seat)
      context.seat = leavable
      seat = leavable
    }
    // A watch holds its seat until it has started: it needs little afterwards.
    const { release } = seat
    let answer: Answer
    try {
      answer = next(context)
    } catch (error) {
      release()
      throw error
    }
    if (!(answer instanceof Promise)) {
      release()
      return this.#withFlow(answer, flow)
    }
    return answer.then(
      response => {
        release()
        return this.#withFlow(response, flow)
      },
      (error: unknown) => {
        release()
        throw error
      },
    )
  }

  #withFlow(response: WireResponse, { schema, level }: Flow): WireResponse {
    const { status, headers, body } = response
    let known = this.#headers.get(headers)
    if (known?.flow.schema !== schema || known.flow.level !== level) {
      const uids = {
        'x-kubernetes-pf-flowschema-uid': schema.uid,
        'x-kubernetes-pf-prioritylevel-uid': level.config.uid,
      }
      known = { flow: { schema, level }, headers: { ...headers, ...uids } }
      this.#headers.set(headers, known)
    }
    if (response.conversation || response.unhurried) return { ...response, headers: known.headers }
    return body === undefined ? { status, headers: known.headers } : { status, headers: known.headers, body }
  }

  /** Undefined before the configuration is loaded. */
  classify({ user, info }: RequestContext): Flow | undefined {
    const levels = this.levels()
    for (const schema of this.#schemas.value) {
      if (!schema.matches(user, info)) continue
      const level = levels.get(schema.level)
      if (level) return { schema, level }
    }
    return undefined
  }

  #countsOf(level: Level, schema: FlowSchema): FlowCounts {
    const key = `${level.config.name} ${schema.name}`
    let counts = this.counts.get(key)
    if (!counts) {
      counts = { level: level.config.name, schema: schema.name, dispatched: 0, rejected: new Map() }
      this.counts.set(key, counts)
    }
    return counts
  }

  #stored(resource: string): JsonObject[] {
    return this.#ports.cache
      .resource(`/${flowGroup}/${resource}/`)
      .list()
      .map(stored => stored.parse())
  }
}
