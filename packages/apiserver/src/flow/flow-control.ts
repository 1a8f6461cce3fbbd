import { newTooManyRequests } from '@coxswain/apimachinery'
import { CachedView } from '../admission/cached-view.ts'
import type { Filter } from '../filters/filter.ts'
import { isLongRunning } from '../filters/long-running.ts'
import type { JsonObject } from '../json.ts'
import type { RequestContext, ServerState } from '../request/context.ts'
import type { Refusal, Seat } from './fair-queues.ts'
import { comparePrecedence, compileFlowSchema, type FlowSchema } from './flow-schemas.ts'
import { balanceLevels, type Level, readLevel, updateLevels } from './priority-levels.ts'
import { estimateSeats } from './seats.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'
const schemaPrefix = `/${flowGroup}/flowschemas/`
const levelPrefix = `/${flowGroup}/prioritylevelconfigurations/`

/** How often unused seats are lent and taken back. */
const balancePeriod = 10_000
/** How long a request waits for a seat at most. */
const longestWait = 15_000
const retryAfterSeconds = 1

export interface FlowCounts {
  dispatched: number
  readonly rejected: Map<Refusal, number>
}

/** Priority and fairness: who waits when there is more to do than the server takes on at once. */
export class FlowControl {
  readonly #state: ServerState
  readonly #seats: number
  readonly #schemas: CachedView<readonly FlowSchema[]>
  readonly #configs: CachedView<object>
  #levels: ReadonlyMap<string, Level> = new Map()
  #known: object | undefined
  /** By `level` and `schema`, for metrics. */
  readonly counts: Map<string, FlowCounts> = new Map()

  constructor(state: ServerState, seats: number) {
    this.#state = state
    this.#seats = seats
    this.#schemas = new CachedView(state, [schemaPrefix], () =>
      this.#stored('flowschemas').map(compileFlowSchema).sort(comparePrecedence),
    )
    this.#configs = new CachedView(state, [levelPrefix], () => ({}))
  }

  /** Lends seats until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#state.env
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
      this.#levels = updateLevels(this.#levels, read, this.#seats, this.#state.env.clock)
    }
    return this.#levels
  }

  schemas(): readonly FlowSchema[] {
    return this.#schemas.value
  }

  readonly filter: Filter = async (context, next) => {
    const { info } = context
    const isWatch = info.verb === 'watch'
    if (isLongRunning(info) && !isWatch) return await next(context)
    const found = this.classify(context)
    if (!found) return await next(context)
    const { schema, level } = found
    const headers = {
      'x-kubernetes-pf-flowschema-uid': schema.uid,
      'x-kubernetes-pf-prioritylevel-uid': level.config.uid,
    }
    const counts = this.#countsOf(level, schema)
    const entered = level.queues.enter(`${schema.name} ${schema.flowOf(context)}`, estimateSeats(context), {
      ms: longestWait,
      signal: context.request.signal,
    })
    const seat: Seat | Refusal = entered instanceof Promise ? await entered : entered
    if (typeof seat === 'string') {
      counts.rejected.set(seat, (counts.rejected.get(seat) ?? 0) + 1)
      throw newTooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
    }
    counts.dispatched++
    try {
      // A watch holds its seat until it has begun: what it does later is little.
      const response = await next(context)
      return { ...response, headers: { ...response.headers, ...headers } }
    } finally {
      seat.release()
    }
  }

  /** Undefined before the configuration is loaded. */
  classify({ user, info }: RequestContext): { schema: FlowSchema; level: Level } | undefined {
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
      counts = { dispatched: 0, rejected: new Map() }
      this.counts.set(key, counts)
    }
    return counts
  }

  #stored(resource: string): JsonObject[] {
    const found = this.#state.registry.findResource(flowGroup, resource)
    return found ? found.cache.list().map(stored => stored.parse()) : []
  }
}
