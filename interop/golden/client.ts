import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { readJson, writeJson } from '@coxswain/apimachinery/json'
import { readBody, type WireResponse } from '@coxswain/wire'
import { createHttpTransport, type HttpTransport } from '@coxswain/wire/node'
import { readKubeconfig } from '../support/kubeconfig.ts'
import { dig, fill, type GoldenRequest, type Names, type Step } from './case.ts'

const data = fileURLToPath(new URL('./data', import.meta.url))

export interface Received {
  readonly status: number
  readonly headers: WireResponse['headers']
  readonly body: unknown
}

/** Sends recorded requests to one server as its administrator. */
export class GoldenClient {
  readonly access: ReturnType<typeof readKubeconfig>
  readonly #transport: HttpTransport
  #user: string | undefined

  constructor(kubeconfig: string) {
    this.access = readKubeconfig(kubeconfig)
    const { url, ca, cert, key } = this.access
    this.#transport = createHttpTransport({ server: url, tls: { ca, cert, key } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]()
  }

  /** Who the client is, after `prepare`. */
  get user(): string | undefined {
    return this.#user
  }

  /** Installs the CRDs that recordings share and finds out who the client is. */
  async prepare(): Promise<void> {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const answer = await this.send({ method: 'POST', path, body: review })
    this.#user = answer.status === 201 ? String(dig(answer.body, 'status.userInfo.username')) : undefined
    const fixtures = JSON.parse(
      gunzipSync(readFileSync(`${data}/fixtures.json.gz`)).toString(),
    ) as Definition[]
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    for (const body of fixtures) await this.send({ method: 'POST', path: definitions, body })
    for (const { spec } of fixtures) {
      for (const version of spec.versions.filter(({ served }) => served)) {
        const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}`
        await this.until({ method: 'GET', path }, {}, { status: 200 })
      }
    }
  }

  /** Makes a namespace with a name of its own, and gives the name. */
  async makeNamespace(): Promise<string> {
    const name = newNamespace()
    await this.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } })
    return name
  }

  /** Repeats a request until it answers so, or too long. */
  async until(request: GoldenRequest, names: Names, until: NonNullable<Step['until']>): Promise<Received> {
    for (let attempt = 0; ; attempt++) {
      const received = await this.send(request, names)
      const isThere =
        received.status === (until.status ?? 200) &&
        (until.path === undefined || dig(received.body, until.path) === until.value)
      if (isThere || attempt === 59) return received
      await sleep(attempt < 20 ? 50 : 250)
    }
  }

  async send(request: GoldenRequest, names: Names = {}): Promise<Received> {
    const { method, path, query, headers, body, raw } = fill(request, names)
    const text = raw ?? (body === undefined ? undefined : writeJson(body))
    const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    const response = await this.#transport.send({
      method,
      path: encodePath(path),
      query: encodeQuery(query),
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
    return { status: response.status, headers: response.headers, body: decode(bytes) }
  }

  /** Deletes an object that a recording made outside its namespace, also if finalizers hold it. */
  async remove(path: string): Promise<void> {
    const gone = await this.send({ method: 'DELETE', path, query: { propagationPolicy: 'Background' } })
    if (gone.status >= 300 || !dig(gone.body, 'metadata.finalizers')) return
    const headers = { 'Content-Type': 'application/merge-patch+json' }
    await this.send({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } })
  }
}

interface Definition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
  }
}

export const newNamespace = (): string => `g${Math.random().toString(36).slice(2, 11).padEnd(9, '0')}`

/** The lines of a file in `data/`. */
export function readLines(file: string): unknown[] {
  return gunzipSync(readFileSync(file))
    .toString()
    .split('\n')
    .filter(line => line !== '')
    .map(line => readJson(new TextEncoder().encode(line)).value)
}

/** A body as JSON, or as text when it is none. */
export function decode(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes, { maxBytes: Number.POSITIVE_INFINITY }).value
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

export const encodePath = (path: string): string => encodeURI(path).replaceAll('%25', '%')

export function encodeQuery(query: GoldenRequest['query']): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const item of typeof value === 'string' ? [value] : value) parameters.append(name, item)
  }
  return parameters.toString()
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
