import { Event } from '@coxswain/api/core/v1'
import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import { type ApiObject, formatKey, type ObjectKey } from '@coxswain/apimachinery/meta'
import { type Client, isClientError, waitFor } from '@coxswain/client'
import type { Env } from '@coxswain/kit'
import { createAssertionError } from '../node/assertion-error.ts'
import { describeFailure, describeSeconds, type Problem } from './failure.ts'
import { type Expected, findMismatches, pickExpected } from './match-partial.ts'
import type { ReconcileLog, RecordedReconcile } from './reconcile-log.ts'

/** What is expected of one object. Every matcher rejects with an AssertionError, and gives the object that satisfied it. */
export interface Expectation<T> {
  /** It exists and has these fields, whatever else it has. Elements of lists are found in any order. */
  toHave(expected: Expected<T>): Promise<T>
  /** It exists, and the function neither returns false nor throws: assertions of `node:assert` can be used in it. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function of assertions returns nothing
  toMatch(matches: (object: T) => boolean | void): Promise<T>
  /** There is no such object. */
  toBeMissing(): Promise<void>
}

/** Of the object as it is now; `eventually` waits until it is so, `consistently` watches that it stays so. */
export interface ImmediateExpectation<T> extends Expectation<T> {
  eventually(options?: EventuallyOptions): Expectation<T>
  consistently(options?: ConsistentlyOptions): Expectation<T>
}

/** Options of `eventually`. */
export interface EventuallyOptions {
  /** Milliseconds of the cluster's clock. @default 30000 */
  readonly within?: number
}

/** Options of `consistently`. */
export interface ConsistentlyOptions {
  /** Milliseconds of the cluster's clock. @default 1000 */
  readonly during?: number
}

/** An object, or as much of one as says which it is. */
export interface AnyObject {
  readonly kind?: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

/** What a test asks a cluster. On a virtual world all of it drives the world. */
export interface ClusterExpectations {
  /** Begins an assertion: `await cluster.expect(Pod, key).eventually().toHave({ status: { phase: 'Running' } })`. */
  expect<K extends Kind>(kind: K, key: ObjectKey): ImmediateExpectation<KindOf<K>>
  /** Calls the function until it neither returns false nor throws, and gives its result. */
  eventually<T>(check: () => T | Promise<T>, options?: EventuallyOptions): Promise<T>
  /** Calls the function for a while; it must neither return false nor throw. */
  consistently(check: () => unknown, options?: ConsistentlyOptions): Promise<void>
  /** The Events about an object, oldest first. */
  events(object: AnyObject): Promise<readonly Event[]>
  /**
   * The latest reconciles of started operators that are about an object, oldest first: of the object itself, caused by it, or with calls
   * that name it. The last thousand of a cluster are kept.
   */
  reconciles(object: AnyObject): readonly RecordedReconcile[]
}

export interface ExpectationContext {
  readonly client: Client
  readonly env: Env
  readonly run: <T>(promise: Promise<T>) => Promise<T>
  readonly reconciles: ReconcileLog
}

const defaultWithin = 30_000
const defaultDuring = 1_000
/** How often a function is called, in milliseconds. */
const period = 100
/** How many events of one object are asked for. */
const eventLimit = 500

type Check<T> = (object: T | undefined) => Problem | undefined
/** Resolves with the object that passed the check, or rejects. */
type Judge<T> = (check: Check<T>) => Promise<T | undefined>

export function createExpectations(context: ExpectationContext): ClusterExpectations {
  const { client, env, run, reconciles } = context
  const { clock } = env

  const listEvents = async (subject: Subject): Promise<readonly Event[]> => {
    const { kind, key, uid } = subject
    const selectors = [`involvedObject.kind=${kind}`, `involvedObject.name=${key.name}`]
    if (uid !== undefined) selectors.push(`involvedObject.uid=${uid}`)
    const { items } = await client.list(Event, {
      namespace: key.namespace ?? 'default',
      fieldSelector: selectors.join(),
      limit: eventLimit,
    })
    return items.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0))
  }

  const newFailure = async (
    subject: Subject,
    problem: Problem,
    { object, when = '' }: { readonly object: ApiObject | undefined; readonly when?: string },
  ) => {
    const message = describeFailure({
      what: `${subject.kind} ${formatKey(subject.key)}`,
      when,
      problem,
      object,
      events: await run(listEvents(subject)).catch(() => []),
      reconciles: reconciles.of(subject.kind, subject.key),
    })
    const { operator, actual, expected } = problem
    return await createAssertionError({ message, operator, actual, expected })
  }

  function expect<K extends Kind>(kind: K, key: ObjectKey): ImmediateExpectation<KindOf<K>> {
    type T = KindOf<K>
    const subject: Subject = { kind: kind.kind, key }
    const target = { kind, key }
    const now: Judge<T> = async check => {
      const object = await run(client.get(kind, key))
      const problem = check(object)
      if (problem) throw await newFailure(subject, problem, { object })
      return object
    }
    const watch = async (stop: (object: T | undefined) => boolean, timeout: number): Promise<boolean> => {
      try {
        await run(waitFor(client, env, target, stop, { timeout }))
        return true
      } catch (error) {
        if (isClientError(error, 'WaitTimeout')) return false
        throw error
      }
    }
    const eventually =
      ({ within = defaultWithin }: EventuallyOptions = {}): Judge<T> =>
      async check => {
        let last: T | undefined
        let problem: Problem | undefined
        const stop = (object: T | undefined) => {
          last = object
          problem = check(object)
          return !problem
        }
        if (await watch(stop, within)) return last
        const unseen = { summary: 'could not be read', details: [], operator: 'eventually' }
        const when = ` after ${describeSeconds(within)}`
        throw await newFailure(subject, problem ?? unseen, { object: last, when })
      }
    const consistently =
      ({ during = defaultDuring }: ConsistentlyOptions = {}): Judge<T> =>
      async check => {
        const start = clock.monotonic()
        let last: T | undefined
        let problem: Problem | undefined
        const stop = (object: T | undefined) => {
          last = object
          problem = check(object)
          return problem !== undefined
        }
        if (!(await watch(stop, during)) || !problem) return last
        const when = ` after ${describeSeconds(clock.monotonic() - start)} of ${describeSeconds(during)}`
        throw await newFailure(subject, problem, { object: last, when })
      }
    return {
      ...createMatchers(now),
      eventually: options => createMatchers(eventually(options)),
      consistently: options => createMatchers(consistently(options)),
    }
  }

  /** Undefined when it holds. */
  const attempt = async <T>(check: () => T | Promise<T>): Promise<{ value: T } | { problem: unknown }> => {
    try {
      const value = await run((async () => await check())())
      return value === false ? { problem: new Error('the function returned false') } : { value }
    } catch (problem) {
      return { problem }
    }
  }
  const failOf = (what: string, problem: unknown) => {
    const { actual, expected } = (problem ?? {}) as { actual?: unknown; expected?: unknown }
    const text = problem instanceof Error ? problem.message : String(problem)
    return createAssertionError({
      message: `${what}: ${text}`,
      operator: 'eventually',
      actual,
      expected,
      cause: problem,
    })
  }

  return {
    expect,
    async eventually(check, { within = defaultWithin } = {}) {
      const deadline = clock.monotonic() + within
      for (;;) {
        const outcome = await attempt(check)
        if ('value' in outcome) return outcome.value
        if (clock.monotonic() >= deadline)
          throw await failOf(`it does not hold after ${describeSeconds(within)}`, outcome.problem)
        await run(clock.sleep(Math.min(period, deadline - clock.monotonic())))
      }
    },
    async consistently(check, { during = defaultDuring } = {}) {
      const start = clock.monotonic()
      for (;;) {
        const outcome = await attempt(check)
        const passed = clock.monotonic() - start
        if ('problem' in outcome)
          throw await failOf(
            `it stops holding after ${describeSeconds(passed)} of ${describeSeconds(during)}`,
            outcome.problem,
          )
        if (passed >= during) return
        await run(clock.sleep(Math.min(period, during - passed)))
      }
    },
    events: object => run(listEvents(subjectOf(object))),
    reconciles: object => {
      const { kind, key } = subjectOf(object)
      return reconciles.of(kind, key)
    },
  }
}

interface Subject {
  readonly kind: string
  readonly key: ObjectKey
  readonly uid?: string
}

function subjectOf({ kind, metadata: { name, namespace, uid } }: AnyObject): Subject {
  if (kind === undefined) throw new Error(`the object ${name} has no kind`)
  const key = { name, ...(namespace !== undefined && { namespace }) }
  return { kind, key, ...(uid !== undefined && { uid }) }
}

function createMatchers<T>(judge: Judge<T>): Expectation<T> {
  return {
    async toHave(expected) {
      const found = await judge(object => {
        if (object === undefined) return { ...missing, expected, operator: 'toHave' }
        const mismatches = findMismatches(expected, object)
        if (mismatches.length === 0) return undefined
        const actual = pickExpected(expected, object)
        return { summary: 'is not as expected', details: mismatches, actual, expected, operator: 'toHave' }
      })
      return found!
    },
    async toMatch(matches) {
      const found = await judge(object => {
        if (object === undefined) return { ...missing, operator: 'toMatch' }
        try {
          if (matches(object) !== false) return undefined
          return { summary: `does not match ${String(matches)}`, details: [], operator: 'toMatch' }
        } catch (error) {
          const {
            actual,
            expected,
            message = String(error),
          } = error as Partial<Problem> & { message?: string }
          return { summary: `does not match: ${message}`, details: [], actual, expected, operator: 'toMatch' }
        }
      })
      return found!
    },
    async toBeMissing() {
      await judge(object =>
        object === undefined ? undefined : { summary: 'exists', details: [], operator: 'toBeMissing' },
      )
    },
  }
}

const missing = { summary: 'does not exist', details: [], actual: undefined }

/** As an RFC 3339 time in UTC, which sorts as text. */
function timeOf({ series, eventTime, lastTimestamp, firstTimestamp, metadata }: Event): string {
  return (
    series?.lastObservedTime ??
    lastTimestamp ??
    eventTime ??
    firstTimestamp ??
    metadata.creationTimestamp ??
    ''
  )
}
