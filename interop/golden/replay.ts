import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { readJson, writeJson } from '@coxswain/apimachinery'
import { readBody, type Transport, type WireResponse } from '@coxswain/wire'
import { dig, fill, type GoldenCase, type GoldenRequest, type Names, type Step } from './case.ts'
import { type Answer, compare, type Verdict } from './compare.ts'
import { Mask } from './mask.ts'

const data = fileURLToPath(new URL('./data', import.meta.url))

export async function loadCases(): Promise<GoldenCase[]> {
  const cases: GoldenCase[] = []
  for await (const file of glob(join(data, 'cases/**/*.jsonl.gz'))) {
    const resource = relative(join(data, 'cases'), file).replace(/\.jsonl\.gz$/, '')
    for (const line of gunzipSync(readFileSync(file)).toString().split('\n')) {
      if (line !== '')
        cases.push({ ...(readJson(new TextEncoder().encode(line)).value as GoldenCase), resource })
    }
  }
  return cases.sort((a, b) => (a.id < b.id ? -1 : 1))
}

interface Received {
  readonly status: number
  readonly headers: WireResponse['headers']
  readonly body: unknown
}

/** Sends recorded requests to one server. */
export class Replayer {
  readonly #transport: Transport
  #user: string | undefined

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Installs the CRDs that cases share and finds out who the client is. */
  async prepare(): Promise<void> {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const answer = await this.#send({ method: 'POST', path, body: review }, {})
    this.#user = answer.status === 201 ? String(dig(answer.body, 'status.userInfo.username')) : undefined
    const fixtures = JSON.parse(
      gunzipSync(readFileSync(join(data, 'fixtures.json.gz'))).toString(),
    ) as Definition[]
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    for (const body of fixtures) await this.#send({ method: 'POST', path: definitions, body }, {})
    for (const { spec } of fixtures) {
      for (const version of spec.versions.filter(({ served }) => served)) {
        await this.#until(
          { method: 'GET', path: `/apis/${spec.group}/${version.name}/${spec.names.plural}` },
          {},
          { status: 200 },
        )
      }
    }
  }

  async replay(golden: GoldenCase): Promise<Verdict> {
    const names: Names = { ns: `g${Math.random().toString(36).slice(2, 11).padEnd(9, '0')}` }
    const made: string[] = []
    try {
      return compare(golden, await this.#run(golden, names, made))
    } catch (error) {
      const difference = error instanceof Error ? error.message : String(error)
      return { status: false, causes: false, message: false, object: false, warnings: false, difference }
    } finally {
      for (const path of made.reverse()) await this.#remove(path)
    }
  }

  async #run(golden: GoldenCase, names: Names, made: string[]): Promise<Answer> {
    if (golden.namespaced !== false) {
      await this.#send(
        { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: names.ns } } },
        {},
      )
    }
    for (const step of golden.setup ?? []) await this.#step(step, names, made)
    const received = await this.#send(golden.request, names)
    note(golden.request, received, names, made)
    const mask = new Mask(golden, names, this.#user)
    const warning = received.headers.warning ?? []
    const warnings = (typeof warning === 'string' ? [warning] : warning).map(text => mask.text(text))
    const body = typeof received.body === 'string' ? mask.plain(received.body) : mask.value(received.body)
    if (!golden.after) return { status: received.status, warnings, body }
    const { path, query } = golden.after
    const found = await this.#send({ method: 'GET', path, ...(query && { query }) }, names)
    return {
      status: received.status,
      warnings,
      body,
      after: found.status === 200 ? mask.value(found.body) : null,
    }
  }

  async #step(step: Step, names: Names, made: string[]): Promise<void> {
    const received = step.until ? await this.#until(step, names, step.until) : await this.#send(step, names)
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

  async #until(request: GoldenRequest, names: Names, until: NonNullable<Step['until']>): Promise<Received> {
    for (let attempt = 0; ; attempt++) {
      const received = await this.#send(request, names)
      const isThere =
        received.status === (until.status ?? 200) &&
        (until.path === undefined || dig(received.body, until.path) === until.value)
      if (isThere || attempt === 59) return received
      await sleep(attempt < 20 ? 50 : 250)
    }
  }

  async #send(request: GoldenRequest, names: Names): Promise<Received> {
    const { method, path, query, headers, body, raw } = fill(request, names)
    const text = raw ?? (body === undefined ? undefined : writeJson(body))
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query ?? {})) {
      for (const item of typeof value === 'string' ? [value] : value) parameters.append(name, item)
    }
    const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    const response = await this.#transport.send({
      method,
      path: encodePath(path),
      query: parameters.toString(),
      headers: {
        'user-agent': 'golden/1',
        accept: 'application/json',
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...Object.fromEntries(given),
      },
      ...(text !== undefined && { body: new TextEncoder().encode(text) }),
      signal: AbortSignal.timeout(30_000),
    })
    const bytes = await readBody(response.body)
    return {
      status: response.status,
      headers: response.headers,
      body: decode(new TextDecoder().decode(bytes)),
    }
  }

  /** Deletes an object that a case made outside its namespace, also if finalizers hold it. */
  async #remove(path: string): Promise<void> {
    const gone = await this.#send({ method: 'DELETE', path, query: { propagationPolicy: 'Background' } }, {})
    if (gone.status >= 300 || !dig(gone.body, 'metadata.finalizers')) return
    const headers = { 'Content-Type': 'application/merge-patch+json' }
    await this.#send({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } }, {})
  }
}

interface Definition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
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

function decode(text: string): unknown {
  try {
    return readJson(new TextEncoder().encode(text), { maxBytes: Number.POSITIVE_INFINITY }).value
  } catch {
    return text
  }
}

const encodePath = (path: string) => encodeURI(path).replaceAll('%25', '%')

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
