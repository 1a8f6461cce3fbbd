import { BoundedMap, type Clock } from '@coxswain/kit'
import type { ApiCall } from '../operator-client.ts'
import type { ReconcileRecord } from '../reconcile-record.ts'
import type { Trigger } from '../trigger.ts'

/** A hot loop: this many reconciles of one object without an error, within this time. */
const count = 20
const within = 10_000
/** One warning per object in this time. */
const silence = 300_000
/** The most objects that are remembered, and the limits for each. */
const remembered = 10_000
const rememberedWrites = 50
const rememberedCauses = 50

/** The last `count` times that something happened. */
class Recently {
  readonly #times: number[] = []
  #next = 0

  /** True when it has happened `count` times within the window. */
  add(now: number): boolean {
    const oldest = this.#times[this.#next]
    this.#times[this.#next] = now
    this.#next = (this.#next + 1) % count
    return oldest !== undefined && now - oldest <= within
  }
}

interface Recent {
  readonly reconciles: Recently
  /** Reconciles that were caused only by the previous one. */
  readonly ownDoing: Recently
  /** The results of its last writes, in the format of {@link stateOf}. */
  readonly writes: string[]
  /** By the event of another object; only kept while reconciles are frequent. */
  causes: BoundedMap<string, Recently> | undefined
  warned: number
}

/**
 * Detects objects that are reconciled over and over without progress: each reconcile writes something that causes the
 * next or requeues at once, or the same change is made to the same object repeatedly, as when two controllers
 * disagree. Many reconciles alone are not a hot loop: a rollout changes many objects, each a few times.
 */
export class HotLoopDetector {
  readonly #clock: Clock
  readonly #recent = new BoundedMap<string, Recent>(remembered)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** True when this reconcile makes it a hot loop, and no warning was logged recently. */
  reconciled({ key, triggers, calls }: Pick<ReconcileRecord, 'key' | 'triggers' | 'calls'>): boolean {
    const now = this.#clock.monotonic()
    const recent = this.#recentOf(key)
    const others = triggers.filter(trigger => !isOwnDoing(trigger, recent))
    const states = calls.length === 0 ? none : calls.flatMap(stateAfter)
    if (states.length > 0) {
      for (const state of states.slice(-rememberedWrites)) recent.writes.push(state)
      recent.writes.splice(0, recent.writes.length - rememberedWrites)
    }
    const isAsked = triggers.some(({ type }) => type === 'RequeueAfter')
    let isLoop = others.length === 0 && (isAsked || states.length > 0) && recent.ownDoing.add(now)
    if (recent.reconciles.add(now))
      for (const trigger of others) isLoop = isRepeated(trigger, recent, now) || isLoop
    else recent.causes = undefined
    if (!isLoop || now - recent.warned < silence) return false
    recent.warned = now
    return true
  }

  #recentOf(key: string): Recent {
    let recent = this.#recent.get(key)
    if (!recent) {
      recent = {
        reconciles: new Recently(),
        ownDoing: new Recently(),
        writes: [],
        causes: undefined,
        warned: Number.NEGATIVE_INFINITY,
      }
      this.#recent.set(key, recent)
    }
    return recent
  }
}

const none: readonly string[] = []

/** The result of a successful write. */
function stateAfter({ verb, object, resourceVersion, error }: ApiCall): readonly string[] {
  if (error !== undefined) return none
  if (resourceVersion !== undefined) return [stateOf(object, resourceVersion)]
  return verb === 'delete' ? [object] : none
}

const stateOf = (object: string, resourceVersion: string): string => `${object} ${resourceVersion}`

/** Whether the previous reconcile caused it. */
function isOwnDoing({ type, object, resourceVersion }: Trigger, { writes }: Recent): boolean {
  if (type === 'RequeueAfter') return true
  if (object === undefined || writes.length === 0) return false
  return writes.includes(type === 'Deleted' ? object : stateOf(object, resourceVersion ?? ''))
}

/** Changes that accompany others and are never the same twice: generations and times. */
const alwaysNew = /^(metadata\.g|status\.observedG)eneration: |\d{4}-\d\d-\d\dT/

/** Whether the same has happened to the same object over and over. */
function isRepeated({ type, object, changed = [] }: Trigger, recent: Recent, now: number): boolean {
  if (object === undefined || type === 'Initial' || type === 'Resync') return false
  recent.causes ??= new BoundedMap(rememberedCauses)
  const { causes } = recent
  const cause = `${type} ${object} ${changed.filter(change => !alwaysNew.test(change)).join()}`
  let times = causes.get(cause)
  if (!times) {
    times = new Recently()
    causes.set(cause, times)
  }
  return times.add(now)
}
