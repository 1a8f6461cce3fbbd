import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Clock } from '@coxswain/kit'
import { FairQueues, type QueueSettings } from './fair-queues.ts'

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** The spec of a PriorityLevelConfiguration. */
export interface LevelConfig {
  readonly name: string
  readonly uid: string
  readonly exempt: boolean
  readonly shares: number
  /** The percentage of its seats that other levels may borrow while it does not need them. */
  readonly lendable: number
  /** How many seats it may borrow, in percent of its own; undefined for no limit. */
  readonly borrowing: number | undefined
  readonly queuing: QueueSettings
}

const noQueues: QueueSettings = { queues: 0, handSize: 0, lengthLimit: 0 }

export function readLevel(object: JsonObject): LevelConfig {
  const { name = '', uid = '' } = objectOf(object.metadata) as { name?: string; uid?: string }
  const spec = objectOf(object.spec)
  const exempt = spec.type === 'Exempt'
  const settings = objectOf(exempt ? spec.exempt : spec.limited)
  const response = objectOf(settings.limitResponse)
  const queuing = objectOf(response.queuing)
  const borrowing = settings.borrowingLimitPercent
  return {
    name,
    uid,
    exempt,
    shares: Number(settings.nominalConcurrencyShares ?? (exempt ? 0 : 30)),
    lendable: Number(settings.lendablePercent ?? 0),
    borrowing: typeof borrowing === 'number' ? borrowing : undefined,
    queuing:
      response.type === 'Queue'
        ? {
            queues: Number(queuing.queues ?? 64),
            handSize: Number(queuing.handSize ?? 8),
            lengthLimit: Number(queuing.queueLengthLimit ?? 50),
          }
        : noQueues,
  }
}

/** A running priority level. */
export interface Level {
  config: LevelConfig
  /** Its nominal seats. */
  nominal: number
  readonly queues: FairQueues
}

/** Keeps the waiting and running requests of a level when its configuration changes; new queues only when their number does. */
export function updateLevels(
  present: ReadonlyMap<string, Level>,
  configs: readonly LevelConfig[],
  { seats, clock }: { readonly seats: number; readonly clock: Clock },
): Map<string, Level> {
  const shares = configs.reduce((sum, config) => sum + config.shares, 0) || 1
  const levels = new Map<string, Level>()
  for (const config of configs) {
    const nominal = Math.ceil((seats * config.shares) / shares)
    const before = present.get(config.name)
    const limit = config.exempt ? Number.POSITIVE_INFINITY : nominal
    if (before && isSameShape(before.config, config)) {
      const isResized = before.nominal !== nominal
      before.config = config
      before.nominal = nominal
      if (isResized) before.queues.setLimit(limit)
      levels.set(config.name, before)
    } else levels.set(config.name, { config, nominal, queues: new FairQueues(clock, config.queuing, limit) })
  }
  return levels
}

function isSameShape(a: LevelConfig, b: LevelConfig): boolean {
  return (
    a.exempt === b.exempt &&
    a.queuing.queues === b.queuing.queues &&
    a.queuing.handSize === b.queuing.handSize
  )
}

/**
 * Lends seats of levels that do not need them to those that do: every level gets the same share of its recent demand,
 * never less than what it does not lend and never more than it may borrow.
 */
export function balanceLevels(levels: Iterable<Level>, seats: number): void {
  const limited = [...levels].filter(({ config }) => !config.exempt)
  const wants = limited.map((level): Want => {
    const { nominal, config } = level
    const least = nominal - Math.round((nominal * config.lendable) / 100)
    const most =
      config.borrowing === undefined ? seats : nominal + Math.round((nominal * config.borrowing) / 100)
    return { level, least, most, target: Math.max(level.queues.takePeak(), 1) }
  })
  const total = limited.reduce((sum, { nominal }) => sum + nominal, 0)
  let low = 0
  let high = seats
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2
    let sum = 0
    for (const want of wants) sum += limitAt(want, middle)
    if (sum > total) high = middle
    else low = middle
  }
  for (const want of wants) {
    const rounded = Math.max(1, Math.round(limitAt(want, low)))
    const { queues } = want.level
    if (queues.limit !== rounded) queues.setLimit(rounded)
  }
}

interface Want {
  readonly level: Level
  readonly least: number
  readonly most: number
  /** Its recent demand. */
  readonly target: number
}

function limitAt({ least, most, target }: Want, share: number): number {
  return Math.min(most, Math.max(least, target * share))
}
