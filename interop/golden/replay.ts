import { glob } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dig, fill, type GoldenCase, type GoldenRequest, type Names, type Step } from './case.ts'
import { type GoldenClient, newNamespace, type Received, readLines, sleep } from './client.ts'
import { type Answer, compare, type Verdict } from './compare.ts'
import { Mask } from './mask.ts'

const data = fileURLToPath(new URL('./data/cases', import.meta.url))

export async function loadCases(): Promise<GoldenCase[]> {
  const cases: GoldenCase[] = []
  for await (const file of glob(join(data, '**/*.jsonl.gz'))) {
    const resource = relative(data, file).replace(/\.jsonl\.gz$/, '')
    for (const line of readLines(file)) cases.push({ ...(line as GoldenCase), resource })
  }
  return cases.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Replays recorded cases against one server. */
export class Replayer {
  readonly #client: GoldenClient

  constructor(client: GoldenClient) {
    this.#client = client
  }

  async replay(golden: GoldenCase): Promise<Verdict> {
    const names: Names = { ns: newNamespace() }
    const made: string[] = []
    try {
      return compare(golden, await this.#run(golden, names, made))
    } catch (error) {
      const difference = error instanceof Error ? error.message : String(error)
      return { status: false, causes: false, message: false, object: false, warnings: false, difference }
    } finally {
      for (const path of made.reverse()) await this.#client.remove(path)
    }
  }

  async #run(golden: GoldenCase, names: Names, made: string[]): Promise<Answer> {
    if (golden.namespaced !== false) {
      const body = { metadata: { name: names.ns } }
      await this.#client.send({ method: 'POST', path: '/api/v1/namespaces', body })
    }
    for (const step of golden.setup ?? []) await this.#step(step, names, made)
    const received = await this.#client.send(golden.request, names)
    note(golden.request, received, names, made)
    const mask = new Mask(
      { said: [golden.setup, golden.request], keep: golden.keep },
      names,
      this.#client.user,
    )
    const warning = received.headers.warning ?? []
    const warnings = (typeof warning === 'string' ? [warning] : warning).map(text => mask.text(text))
    const body = typeof received.body === 'string' ? mask.plain(received.body) : mask.value(received.body)
    if (!golden.after) return { status: received.status, warnings, body }
    const { path, query } = golden.after
    const found = await this.#client.send({ method: 'GET', path, ...(query && { query }) }, names)
    const after = found.status === 200 ? mask.value(found.body) : null
    return { status: received.status, warnings, body, after }
  }

  async #step(step: Step, names: Names, made: string[]): Promise<void> {
    const received = step.until
      ? await this.#client.until(step, names, step.until)
      : await this.#client.send(step, names)
    note(step, received, names, made)
    if (step.pause) await sleep(step.pause * 1000)
    const isRight = step.expect
      ? received.status === step.expect
      : received.status < 300 || (received.status === 409 && step.method === 'POST')
    if (!isRight) {
      throw new Error(
        `setup ${step.method} ${step.path}: ${received.status} ${JSON.stringify(received.body).slice(0, 200)}`,
      )
    }
    for (const [name, path] of Object.entries(step.save ?? {})) names[name] = String(dig(received.body, path))
  }
}

/** Remembers what was made outside the case's namespace, and what holds addresses of the whole cluster. */
function note(request: GoldenRequest, { status, body }: Received, names: Names, made: string[]): void {
  const path = fill(request.path, names)
  const isOutside = !path.includes('/namespaces/') || path.includes('/services')
  if (status !== 201 || !isOutside || request.query?.dryRun !== undefined) return
  const name = dig(body, 'metadata.name')
  if (request.method !== 'POST') made.push(path)
  else if (typeof name === 'string') made.push(`${path}/${name}`)
}
