import { createSeededRandom, type Random } from '@coxswain/kit'
import { startServer } from '../support/coxswain.ts'
import { Api, type Event } from './api.ts'

const writers = 8
const namesEach = 12
const collection = '/api/v1/namespaces/default/configmaps'
const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** What a writer knows about one of its objects: what may be stored is the last acknowledged state or one of those tried since. */
interface Known {
  /** The `n` of the object; undefined when it is not there. */
  acknowledged: string | undefined
  /** Writes that got no answer. */
  tried: (string | undefined)[]
}

interface Result {
  readonly problems: string[]
  readonly summary: string
}

/**
 * A server that writers keep busy is killed again and again and started on the same data. After each start every object is as the
 * last acknowledged write left it (or one without an answer after it); a watcher that goes on from the last version it
 * saw gets every acknowledged write, or the error that its version is too old.
 */
export async function killUnderLoad(options: { kills: number; seed: number }): Promise<Result> {
  await using server = await startServer('--controllers', 'none')
  const run = new Run(createSeededRandom(options.seed))
  let api = new Api(server.kubeconfig)
  const first = (await api.send('GET', collection)).body.metadata.resourceVersion
  run.watcher.version = first
  for (let kill = 0; kill < options.kills && run.problems.length < 10; kill++) {
    const stop = new AbortController()
    const busy = Promise.all([
      ...Array.from({ length: writers }, (_, writer) => run.write(api, writer, stop.signal)),
      run.watch(api, stop.signal),
    ])
    await sleep(200 + run.random.below(800))
    await server.kill()
    stop.abort()
    await busy
    await api[Symbol.asyncDispose]()
    await server.restart()
    api = new Api(server.kubeconfig)
    await run.verify(api, `after kill ${kill}`)
  }
  await run.catchUp(api)
  const replay = await run.replay(api, first)
  await api[Symbol.asyncDispose]()
  const { acknowledged, unanswered, watcher } = run
  const summary =
    `${options.kills} kills, ${acknowledged.size} writes acknowledged, ${unanswered} without an answer, ` +
    `${watcher.events.size} events seen, ${watcher.expired} times too old; a watch from the first version: ${replay}`
  return { problems: run.problems, summary }
}

class Run {
  readonly random: Random
  readonly problems: string[] = []
  /** Versions of acknowledged writes; a delete has none in its answer. */
  readonly acknowledged = new Map<string, string>()
  readonly watcher = { version: '', events: new Map<string, Event>(), expired: 0 }
  /** Up to this version a list stood in for events that were too old. */
  #listed = 0
  #mustList = false
  unanswered = 0
  readonly #known = new Map<string, Known>()
  #newest = 0

  constructor(random: Random) {
    this.random = random
  }

  async write(api: Api, writer: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const name = `w${writer}-${this.random.below(namesEach)}`
      const known = this.#known.get(name) ?? { acknowledged: undefined, tried: [] }
      this.#known.set(name, known)
      const isThere = known.acknowledged !== undefined
      const n = isThere && this.random.below(5) === 0 ? undefined : String(this.random.below(1e9))
      known.tried.push(n)
      const path = `${collection}/${name}`
      const object = { metadata: { name }, data: { n } }
      try {
        const answer =
          n === undefined
            ? await api.send('DELETE', path)
            : isThere
              ? await api.send('PUT', path, object)
              : await api.send('POST', collection, object)
        if (answer.status >= 500) {
          this.unanswered++
          return
        }
        if (answer.status >= 300) {
          this.problems.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
          return
        }
        known.acknowledged = n
        known.tried = []
        if (n === undefined) continue
        const { resourceVersion } = answer.body.metadata
        this.acknowledged.set(resourceVersion, `${name}=${n}`)
        this.#newest = Math.max(this.#newest, Number(resourceVersion))
      } catch {
        this.unanswered++
        return
      }
    }
  }

  /** Follows the collection from the last version seen; starts anew from a list when that is too old. */
  async watch(api: Api, signal: AbortSignal): Promise<void> {
    if (this.#mustList) {
      this.watcher.version = (await api.send('GET', collection)).body.metadata.resourceVersion
      this.#listed = Number(this.watcher.version)
      this.#mustList = false
    }
    const target = `${collection}?watch=1&allowWatchBookmarks=true&resourceVersion=${this.watcher.version}`
    try {
      for await (const event of api.watch(target, signal)) if (!this.#note(event)) return
    } catch {
      // Cut by the kill: goes on from the last version it saw.
    }
  }

  #note(event: Event): boolean {
    if (event.type === 'ERROR') {
      this.watcher.expired++
      this.#mustList = true
      if (event.object.code !== 410) this.problems.push(`a watch ended with ${JSON.stringify(event.object)}`)
      return false
    }
    const { resourceVersion } = event.object.metadata
    if (Number(resourceVersion) <= Number(this.watcher.version) && event.type !== 'BOOKMARK')
      this.problems.push(`event ${resourceVersion} after ${this.watcher.version}`)
    this.watcher.version = resourceVersion
    if (event.type !== 'BOOKMARK') this.watcher.events.set(resourceVersion, event)
    return true
  }

  /** What is stored is what was acknowledged; then it is what is known. */
  async verify(api: Api, when: string): Promise<void> {
    const { body } = await api.send('GET', collection)
    if (Number(body.metadata.resourceVersion) < this.#newest)
      this.problems.push(
        `${when}: the store is at ${body.metadata.resourceVersion}, ${this.#newest} was acknowledged`,
      )
    const stored = new Map(body.items!.map(item => [item.metadata.name, item.data?.n]))
    for (const [name, known] of this.#known) {
      const n = stored.get(name)
      if (n !== known.acknowledged && !known.tried.includes(n)) {
        this.problems.push(`${when}: ${name} is ${n}, not ${known.acknowledged} nor one of ${known.tried}`)
      }
      known.acknowledged = n
      known.tried = []
    }
  }

  /** Lets the watcher see the end, then compares what it saw with what was acknowledged. */
  async catchUp(api: Api): Promise<void> {
    const last = (await api.send('POST', collection, { metadata: { name: 'last' } })).body.metadata
    const stop = new AbortController()
    // Twice: the first may say that the version is too old.
    const watching = this.watch(api, stop.signal).then(() => this.watch(api, stop.signal))
    for (let tries = 0; tries < 1_200 && Number(this.watcher.version) < Number(last.resourceVersion); tries++)
      await sleep(50)
    stop.abort()
    await watching
    for (const [version, what] of this.acknowledged) {
      if (Number(version) <= this.#listed) continue
      const event = this.watcher.events.get(version)
      const saw = event && `${event.object.metadata.name}=${event.object.data?.n}`
      if (saw !== what)
        this.problems.push(`version ${version}: ${what} was acknowledged, the watch saw ${saw}`)
    }
  }

  /** A watch from a version before everything replays all of it, or says that it cannot. */
  async replay(api: Api, first: string): Promise<string> {
    const seen = new Map<string, Event>()
    const stop = new AbortController()
    const deadline = setTimeout(() => stop.abort(), 60_000)
    try {
      for await (const event of api.watch(`${collection}?watch=1&resourceVersion=${first}`, stop.signal)) {
        if (event.type === 'ERROR') {
          if (event.object.code !== 410) this.problems.push(`too old: ${JSON.stringify(event.object)}`)
          return 'too old (410)'
        }
        seen.set(event.object.metadata.resourceVersion, event)
        if (event.object.metadata.name === 'last') break
      }
    } catch {
      this.problems.push(`a watch from version ${first} did not reach the end within a minute`)
    } finally {
      clearTimeout(deadline)
      stop.abort()
    }
    for (const [version, what] of this.acknowledged)
      if (!seen.has(version)) this.problems.push(`version ${version} (${what}) is missing in the replay`)
    return `${seen.size} events`
  }
}
