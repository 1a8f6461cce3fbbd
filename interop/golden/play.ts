import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { dig, fill, type GoldenRequest, type Names } from './case.ts'
import { type GoldenClient, type Received, readLines, sleep } from './client.ts'
import {
  type Played,
  query,
  type RequestStep,
  type Scenario,
  type StepAnswer,
  type WaitStep,
  type WatchRecord,
  type WatchStep,
} from './scenario.ts'
import { isPeriodicBookmark, maskEvents, versionOf, WatchMask } from './watch-mask.ts'
import { WatchStream } from './watch-stream.ts'

/** Seconds that a wait may take unless its step says otherwise. */
const patience = 60

/** Left at the end for an event too many, in milliseconds. */
const settleTime = 300

export async function loadScenarios(): Promise<Scenario[]> {
  const found: Scenario[] = []
  const folder = fileURLToPath(new URL('./data/watch', import.meta.url))
  for await (const file of glob(`${folder}/*.jsonl.gz`)) found.push(...(readLines(file) as Scenario[]))
  return found.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Plays a scenario in a namespace of its own. */
export async function play(client: GoldenClient, scenario: Scenario): Promise<Played> {
  const run = new Run(client, scenario, { ns: await client.makeNamespace() })
  try {
    return await run.play()
  } finally {
    await run.cleanUp()
  }
}

class Run {
  readonly #client: GoldenClient
  readonly #scenario: Scenario
  readonly #names: Names
  readonly #watches = new Map<string, WatchStream>()
  /** What was made outside the namespace. */
  readonly #made: string[] = []
  readonly #answers: (StepAnswer & { readonly shown?: unknown })[] = []

  constructor(client: GoldenClient, scenario: Scenario, names: Names) {
    this.#client = client
    this.#scenario = scenario
    this.#names = names
  }

  async play(): Promise<Played> {
    for (const [index, step] of this.#scenario.steps.entries()) {
      if ('watch' in step) this.#answers.push(await this.#watch(step))
      else if ('wait' in step) this.#answers.push((await this.#wait(step)) ? {} : { timeout: true })
      else if ('check' in step) this.#answers.push({ true: this.#check(step.check) })
      else if ('together' in step) this.#answers.push(await this.#together(step.together))
      else if ('same' in step) this.#answers.push({ true: this.#same(step.same) })
      else if ('pause' in step) {
        await sleep(step.pause * 1000)
        this.#answers.push({})
      } else this.#answers.push(await this.#request(step, index))
    }
    if (this.#watches.size > 0) await sleep(settleTime)
    for (const watch of this.#watches.values()) watch.stop()
    return this.#masked()
  }

  async cleanUp(): Promise<void> {
    for (const watch of this.#watches.values()) watch.stop()
    for (const path of this.#made.reverse()) await this.#client.remove(path)
  }

  async #watch(step: WatchStep): Promise<StepAnswer> {
    const isFromVersion = /^[1-9]\d*$/.test(fill(query(step, 'resourceVersion'), this.#names))
    // The present state is to be as new as the last write: a list waits for the server's cache.
    if (!isFromVersion || query(step, 'sendInitialEvents') !== '')
      await this.#client.send({ method: 'GET', path: collectionOf(step.path) }, this.#names)
    const watch = new WatchStream(this.#client, step, this.#names)
    this.#watches.set(step.watch, watch)
    await watch.wait(() => watch.status !== undefined, patience)
    if (watch.status === undefined) throw new Error(`no answer to watch ${step.watch}`)
    return {}
  }

  #wait(step: WaitStep): Promise<boolean> {
    const watch = this.#watches.get(step.wait)!
    const { within = patience } = step
    if (step.closed) return watch.wait(() => watch.isEnded, within)
    if (step.events !== undefined) {
      const count = () => watch.events.filter(event => !isPeriodicBookmark(event)).length
      return watch.wait(() => count() >= step.events!, within)
    }
    if (step.bookmark) return watch.wait(() => watch.events.some(({ type }) => type === 'BOOKMARK'), within)
    const name = fill(step.object!, this.#names)
    return watch.wait(
      () =>
        watch.events.some(
          event =>
            (step.type === undefined || event.type === step.type) &&
            ['object.metadata.name', 'object.rows.0.object.metadata.name', 'object.rows.0.cells.0'].some(
              path => dig(event, path) === name,
            ),
        ),
      within,
    )
  }

  #check([left, relation, right]: readonly [string, string, string]): boolean {
    const a = Number(this.#names[left] ?? -1)
    const b = Number(this.#names[right] ?? -1)
    const holds = { '<': a < b, '<=': a <= b, '==': a === b, '>=': a >= b, '>': a > b, '!=': a !== b }
    return holds[relation as keyof typeof holds]
  }

  async #together(steps: readonly RequestStep[]): Promise<StepAnswer> {
    const answers = await Promise.all(steps.map(step => this.#client.send(step, this.#names)))
    for (const [index, step] of steps.entries()) this.#save(step, answers[index]!)
    return { statuses: answers.map(({ status }) => status).sort((a, b) => a - b) }
  }

  #same(watches: readonly string[]): boolean {
    const seen = watches.map(name =>
      this.#watches
        .get(name)!
        .events.map(event => [event.type, dig(event, 'object.metadata.name'), versionOf(event)] as const),
    )
    const versions = seen[0]!.map(([, , version]) => version ?? 0)
    return (
      seen.every(events => isDeepStrictEqual(events, seen[0])) &&
      versions.every((version, index) => index === 0 || versions[index - 1]! < version)
    )
  }

  async #request(step: RequestStep, index: number): Promise<StepAnswer & { shown?: unknown }> {
    await this.#settle(step, index)
    const received = step.until
      ? await this.#client.until(step, this.#names, step.until)
      : await this.#client.send(step, this.#names)
    const path = fill(step.path, this.#names)
    const isMade = received.status === 201 && step.method === 'POST' && step.query?.dryRun === undefined
    if (isMade && !path.includes('/namespaces/'))
      this.#made.push(`${path}/${dig(received.body, 'metadata.name')}`)
    this.#save(step, received)
    const isShown = (step.show || received.status >= 400) && typeof received.body !== 'string'
    return { status: received.status, ...(isShown && { shown: received.body }) }
  }

  /** A real server may judge a delete by a copy in its cache that lacks the write just before: a list waits for the cache. */
  async #settle(step: GoldenRequest, index: number): Promise<void> {
    const path = fill(step.path, this.#names)
    if (step.method !== 'DELETE' && !path.endsWith('/eviction')) return
    const writes = this.#scenario.steps
      .slice(0, index)
      .filter(each => 'path' in each && !('watch' in each) && each.method !== 'GET')
    if (writes.length >= 2) await this.#client.send({ method: 'GET', path: collectionOf(path) })
  }

  #save(step: RequestStep, { body }: Received): void {
    for (const [name, path] of Object.entries(step.save ?? {})) {
      const value = dig(body, path)
      if (value !== undefined && value !== null && String(value) !== '') this.#names[name] = String(value)
    }
  }

  #masked(): Played {
    const { steps, keep, loose = false } = this.#scenario
    const mask = new WatchMask({ said: steps, keep }, this.#names, this.#client.user)
    const answers = this.#answers.map(({ shown, ...answer }) =>
      shown === undefined ? answer : { ...answer, body: mask.value(shown) },
    )
    const watches: Record<string, WatchRecord> = {}
    for (const [name, watch] of this.#watches) {
      const { events, bookmarks } = maskEvents(watch, mask, { names: this.#names, loose })
      const { status, contentType, transfer, body } = watch
      const end = !watch.isEnded ? 'open' : watch.isBroken ? 'broken' : 'server'
      const hasTimeout = query(watch.step, 'timeoutSeconds') !== ''
      watches[name] = {
        status: status!,
        contentType,
        transfer,
        ...(body !== undefined
          ? { body: typeof body === 'string' ? mask.plain(body) : mask.value(body) }
          : { events, end }),
        ...(body === undefined &&
          hasTimeout &&
          watch.isEnded && { seconds: Math.round(watch.lasted / 1000) }),
        ...(bookmarks.length > 0 && { bookmarks: { atLeast: bookmarks.length, like: bookmarks[0]! } }),
      }
    }
    return { answers, watches }
  }
}

/** The list path of a watched path: without /watch/, without the name. */
function collectionOf(path: string): string {
  const parts = path.split('/').filter((part, index) => part !== 'watch' || index >= 4)
  const root = parts[1] === 'api' ? 3 : 4
  const isInNamespace = parts.length > root + 2 && parts[root] === 'namespaces'
  return parts.slice(0, isInNamespace ? root + 3 : root + 1).join('/')
}
