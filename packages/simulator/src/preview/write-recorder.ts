import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { type Clock, decodeText } from '@coxswain/kit'
import { isStream, joinChunks, type Transport, type WireRequest, type WireResponse } from '@coxswain/wire'
import { findSourceLine } from '../world/source-line.ts'
import { type ApiPath, parseApiPath } from '../world/trace.ts'

/** A write that an operator would make. */
export interface PlannedWrite {
  readonly action: 'create' | 'change' | 'delete' | 'fail'
  /** Milliseconds since the change. */
  readonly time: number
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  /** The object before; undefined if it is created. */
  readonly before?: JsonObject
  /** The object after; undefined if it is deleted. For a failed write, the Status. */
  readonly after?: JsonObject
  /** What was sent to create it. */
  readonly sent?: JsonObject
  /** The line of the operator's source, `FILE:LINE`. */
  readonly line?: string
}

/** What is kept of a run that never comes to rest. */
const mostWrites = 2_000

/** Records the writes of operators that change something. Events, leases and the configurations of its webhooks are not an operator's work. */
export class WriteRecorder {
  readonly #clock: Clock
  #writes: PlannedWrite[] = []
  #start: number
  #last: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#start = clock.monotonic()
    this.#last = this.#start
  }

  /** Milliseconds since the last write, those that change nothing included. */
  get idleTime(): number {
    return this.#clock.monotonic() - this.#last
  }

  /** What was written since the last call, or the beginning. Times then count from now. */
  take(): PlannedWrite[] {
    const writes = this.#writes
    this.#writes = []
    this.#start = this.#clock.monotonic()
    return writes
  }

  transport(inner: Transport, { hasWebhooks }: { readonly hasWebhooks: boolean }): Transport {
    return {
      send: async request => {
        const path = parseApiPath(request.path)
        if (!isWork(request, path) || (hasWebhooks && hostResources.has(path.resource)))
          return await inner.send(request)
        const line = findSourceLine()
        const before = path.name === undefined ? undefined : await read(inner, request)
        const response = await inner.send(request)
        this.#add(path, { before, response: await bodyOf(response), status: response.status, request, line })
        return response
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  #add(path: ApiPath, answered: Answered): void {
    this.#last = this.#clock.monotonic()
    const { before, response, status, request, line } = answered
    const action = actionOf(answered)
    const after = action === 'delete' ? undefined : response
    if (action === 'change' && isSame(before, after)) return
    const named = (action === 'delete' ? before : response) ?? {}
    const metadata = isObject(named.metadata) ? (named.metadata as JsonObject) : {}
    const name = path.name ?? (status < 300 ? metadata.name : undefined)
    const kind = status < 300 ? named.kind : before?.kind
    const { group, resource, namespace, subresource } = path
    if (this.#writes.length >= mostWrites || request.query.includes('dryRun=All')) return
    this.#writes.push({
      action,
      time: this.#clock.monotonic() - this.#start,
      group,
      resource,
      kind: typeof kind === 'string' ? kind : resource,
      ...(namespace !== undefined && { namespace }),
      ...(typeof name === 'string' && { name }),
      ...(subresource !== undefined && { subresource }),
      ...(before && { before }),
      ...(after && { after }),
      ...(action === 'create' && sentBy(request)),
      ...(line !== undefined && { line }),
    })
  }
}

interface Answered {
  readonly before: JsonObject | undefined
  readonly response: JsonObject | undefined
  readonly status: number
  readonly request: WireRequest
  readonly line: string | undefined
}

function actionOf({ before, response, status, request }: Answered): PlannedWrite['action'] {
  if (status >= 300) return 'fail'
  if (request.method === 'DELETE') {
    const metadata = response?.metadata
    const isWaiting =
      response?.kind !== 'Status' &&
      isObject(metadata) &&
      Array.isArray(metadata.finalizers) &&
      metadata.finalizers.length > 0
    return isWaiting ? 'change' : 'delete'
  }
  return before ? 'change' : 'create'
}

const hostResources = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'customresourcedefinitions',
])

function isWork({ method }: WireRequest, { group, resource }: ApiPath): boolean {
  if (method === 'GET' || method === 'HEAD' || resource === 'events' || resource === 'leases') return false
  return group !== 'authentication.k8s.io' && group !== 'authorization.k8s.io'
}

/** The object itself, also for a write to a subresource. */
async function read(
  inner: Transport,
  { path, headers, signal }: WireRequest,
): Promise<JsonObject | undefined> {
  const { subresource } = parseApiPath(path)
  const object = subresource === undefined ? path : path.slice(0, -subresource.length - 1)
  const { 'content-type': _, ...rest } = headers
  const response = await inner.send({ method: 'GET', path: object, query: '', headers: rest, signal })
  return response.status === 200 ? await bodyOf(response) : undefined
}

async function bodyOf({ body }: WireResponse): Promise<JsonObject | undefined> {
  if (!body || isStream(body)) return undefined
  const value: unknown = JSON.parse(decodeText(body instanceof Uint8Array ? body : joinChunks(body)))
  return isObject(value) ? (value as JsonObject) : undefined
}

function sentBy({ body, headers }: WireRequest): { readonly sent?: JsonObject } {
  const isJson = /json|apply-patch/.test(String(headers['content-type']))
  if (!body || !isJson) return {}
  const sent: unknown = JSON.parse(decodeText(body))
  return isObject(sent) ? { sent: sent as JsonObject } : {}
}

/** Whether two states of an object differ in nothing but what every write changes. */
function isSame(before: JsonObject | undefined, after: JsonObject | undefined): boolean {
  return JSON.stringify(before && comparable(before)) === JSON.stringify(after && comparable(after))
}

/** The object without what the server sets by itself. */
export function comparable(object: JsonObject): JsonObject {
  const { metadata, ...rest } = object
  const {
    resourceVersion: _,
    managedFields: __,
    generation: ___,
    ...kept
  } = (isObject(metadata) ? metadata : {}) as JsonObject
  return { ...rest, metadata: kept }
}
