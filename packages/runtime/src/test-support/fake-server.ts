import type { ApiObject, GroupResource } from '@coxswain/apimachinery/meta'
import { applyMergePatch } from '@coxswain/apimachinery/patch'
import {
  newAlreadyExists,
  newConflict,
  newInternalError,
  newNotFound,
  newResourceExpired,
  newServiceUnavailable,
  optimisticLockMessage,
  type StatusError,
} from '@coxswain/apimachinery/status'
import { decodeText, type Env, encodeText } from '@coxswain/kit'
import { type Handler, parseQuery, type WireRequest, type WireResponse } from '@coxswain/wire'

type Stored = ApiObject & { spec?: unknown; status?: unknown }

interface Change {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly collection: string
  readonly object: Stored
}

interface Target {
  readonly resource: GroupResource
  /** `/apis/group/version/resource` without the namespace. */
  readonly collection: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
}

export interface LoggedCall {
  readonly time: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly agent: string
  readonly body: unknown
}

/** Just enough of an API server to run operators against, with hooks for every request. Accepts any resource. */
export class FakeServer {
  readonly calls: LoggedCall[] = []
  /** Answers a request instead of the server when it returns or throws something. */
  intercept: ((call: LoggedCall) => StatusError | undefined | Promise<StatusError | undefined>) | undefined
  /** Resources that are not served. */
  readonly absent: Set<string> = new Set()
  openWatches = 0
  /** Paths of deletions that found nothing. */
  readonly missed: string[] = []
  readonly #env: Env
  readonly #objects = new Map<string, Stored>()
  readonly #wake = new Set<() => void>()
  #history: Change[] = []
  #revision = 10
  #compacted = 0
  /** Watches deliver nothing until this is false again. */
  #held = false

  constructor(env: Env) {
    this.#env = env
  }

  get revision(): number {
    return this.#revision
  }

  readonly handler: Handler = async request => {
    const body = request.body?.length ? JSON.parse(decodeText(request.body)) : undefined
    const agent = String(request.headers['user-agent'] ?? '')
    const { method, path, query } = request
    const call = { time: this.#env.clock.now(), method, path, query, agent, body }
    this.calls.push(call)
    try {
      const refusal = await this.intercept?.(call)
      if (refusal) throw refusal
      return this.#answer(request, body)
    } catch (error) {
      const status = (error as StatusError).status ?? newInternalError(error as Error).status
      return respond(status.code ?? 500, status)
    }
  }

  /** What the server has, for assertions. */
  object<T = Stored>(path: string): T | undefined {
    return this.#objects.get(path) as T | undefined
  }

  objects(collection: string): Stored[] {
    return [...this.#objects]
      .filter(([path]) => collectionOf(path) === collection)
      .map(([, object]) => object)
  }

  /** Another client creates or replaces an object. */
  put(path: string, object: { kind: string; apiVersion: string; [field: string]: unknown }): Stored {
    return this.#store(parsePath(path), object as unknown as Stored)
  }

  delete(path: string): void {
    this.#remove(parsePath(path))
  }

  holdWatches(): void {
    this.#held = true
  }

  releaseWatches(): void {
    this.#held = false
    this.#notify()
  }

  compact(): void {
    this.#compacted = this.#revision
    this.#history = []
    this.#notify()
  }

  /** The writes of a client, as `POST /path`. */
  writes(agent?: string): string[] {
    return this.calls
      .filter(call => call.method !== 'GET' && (!agent || call.agent === agent))
      .map(call => `${call.method} ${call.path}`)
  }

  #answer(request: WireRequest, body: unknown): WireResponse {
    const target = parsePath(request.path)
    if (this.absent.has(target.resource.resource)) throw newNotFound(target.resource, target.name ?? '')
    const query = parseQuery(request.query)
    switch (request.method) {
      case 'GET':
        if (target.name) return respond(200, this.#existing(target))
        return query.get('watch') === 'true' || query.get('watch') === '1'
          ? this.#watch(target, query, request.signal)
          : this.#list(target)
      case 'POST': {
        const object = structuredClone(body) as Stored
        const name = object.metadata.name ?? `${object.metadata.generateName}${this.#env.random.suffix(5)}`
        const path = { ...target, name }
        if (this.#objects.has(formatPath(path))) throw newAlreadyExists(target.resource, name)
        if (query.get('dryRun')) return respond(201, object)
        return respond(201, this.#store(path, object))
      }
      case 'PUT':
        return respond(200, this.#replace(target, body as Stored))
      case 'PATCH': {
        const existing = this.#existing(target)
        const patched = applyMergePatch(existing as never, body as never) as unknown as Stored
        const { uid } = (body as { metadata?: { uid?: string } }).metadata ?? {}
        if (uid && uid !== existing.metadata.uid) throw newConflict(target.resource, target.name!, 'uid')
        const { resourceVersion } = (body as { metadata?: { resourceVersion?: string } }).metadata ?? {}
        const { resourceVersion: _, ...metadata } = patched.metadata
        return respond(
          200,
          this.#replace(target, {
            ...patched,
            metadata: { ...metadata, ...(resourceVersion && { resourceVersion }) } as Stored['metadata'],
          }),
        )
      }
      case 'DELETE': {
        if (!this.#objects.has(formatPath(target))) this.missed.push(request.path)
        const left = this.#remove(target)
        return respond(200, left ?? { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' })
      }
    }
    throw newServiceUnavailable('what?')
  }

  #existing(target: Target): Stored {
    const object = this.#objects.get(formatPath(target))
    if (!object) throw newNotFound(target.resource, target.name!)
    return object
  }

  #replace(target: Target, object: Stored): Stored {
    const existing = this.#existing(target)
    const { resourceVersion } = object.metadata
    if (resourceVersion && resourceVersion !== existing.metadata.resourceVersion) {
      throw newConflict(target.resource, target.name!, optimisticLockMessage)
    }
    return this.#store(
      target,
      target.subresource === 'status' ? { ...existing, status: object.status } : object,
    )
  }

  #store(target: Target, object: Stored): Stored {
    const path = formatPath(target)
    const existing = this.#objects.get(path)
    if (existing && sameContent(existing, object)) return existing
    const revision = ++this.#revision
    const respec = existing && JSON.stringify(existing.spec) !== JSON.stringify(object.spec)
    const stored: Stored = {
      ...structuredClone(object),
      metadata: {
        ...structuredClone(object.metadata),
        name: target.name!,
        ...(target.namespace && { namespace: target.namespace }),
        uid: existing?.metadata.uid ?? this.#env.random.uuid(),
        resourceVersion: String(revision),
        creationTimestamp:
          existing?.metadata.creationTimestamp ?? new Date(this.#env.clock.now()).toISOString(),
        generation: (existing?.metadata.generation ?? 0) + (!existing || respec ? 1 : 0),
      },
    }
    if (stored.metadata.deletionTimestamp && !stored.metadata.finalizers?.length) {
      this.#objects.delete(path)
      this.#record({ revision, type: 'DELETED', collection: target.collection, object: stored })
      return stored
    }
    this.#objects.set(path, stored)
    this.#record({
      revision,
      type: existing ? 'MODIFIED' : 'ADDED',
      collection: target.collection,
      object: stored,
    })
    return stored
  }

  /** The object while finalizers keep it. */
  #remove(target: Target): Stored | undefined {
    const existing = this.#existing(target)
    if (existing.metadata.finalizers?.length) {
      const deletionTimestamp =
        existing.metadata.deletionTimestamp ?? new Date(this.#env.clock.now()).toISOString()
      return this.#store(target, { ...existing, metadata: { ...existing.metadata, deletionTimestamp } })
    }
    const revision = ++this.#revision
    this.#objects.delete(formatPath(target))
    const object = { ...existing, metadata: { ...existing.metadata, resourceVersion: String(revision) } }
    this.#record({ revision, type: 'DELETED', collection: target.collection, object })
    return undefined
  }

  #record(change: Change): void {
    this.#history.push(change)
    this.#notify()
  }

  #notify(): void {
    for (const wake of [...this.#wake]) wake()
  }

  #matching(target: Target): Stored[] {
    return this.objects(target.collection).filter(
      object => !target.namespace || object.metadata.namespace === target.namespace,
    )
  }

  #list(target: Target): WireResponse {
    const metadata = { resourceVersion: String(this.#revision) }
    return respond(200, { kind: 'List', apiVersion: 'v1', metadata, items: this.#matching(target) })
  }

  #watch(target: Target, query: ReturnType<typeof parseQuery>, signal: AbortSignal): WireResponse {
    const resourceVersion = query.get('resourceVersion')
    const initial = query.get('sendInitialEvents') === 'true'
    let at = resourceVersion && !initial ? Number(resourceVersion) : this.#revision
    const first = initial ? this.#matching(target) : []
    const { clock } = this.#env
    const end = clock.monotonic() + Number(query.get('timeoutSeconds') ?? 300) * 1000
    const stream = async function* (this: FakeServer): AsyncGenerator<Uint8Array> {
      this.openWatches++
      try {
        for (const object of first) yield encode({ type: 'ADDED', object })
        if (initial) yield encode(bookmark(at))
        for (;;) {
          if (at < this.#compacted) {
            yield encode({ type: 'ERROR', object: newResourceExpired('too old resource version').status })
            return
          }
          const change = this.#held ? undefined : this.#history.find(entry => entry.revision > at)
          if (change) {
            at = change.revision
            if (change.collection !== target.collection) continue
            if (target.namespace && change.object.metadata.namespace !== target.namespace) continue
            yield encode({ type: change.type, object: change.object })
          } else {
            if (signal.aborted || clock.monotonic() >= end) return
            await this.#change(end - clock.monotonic(), signal)
          }
        }
      } finally {
        this.openWatches--
      }
    }.call(this)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: stream }
  }

  #change(within: number, signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const finish = (): void => {
        this.#wake.delete(finish)
        timer.cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = this.#env.clock.after(within, finish)
      this.#wake.add(finish)
      signal.addEventListener('abort', finish, { once: true })
    })
  }
}

function sameContent(a: Stored, b: Stored): boolean {
  const strip = ({ metadata, ...rest }: Stored): string => {
    const {
      resourceVersion: _,
      managedFields: __,
      uid: ___,
      generation: ____,
      creationTimestamp: _____,
      ...kept
    } = metadata
    return JSON.stringify([kept, rest])
  }
  return strip(a) === strip(b)
}

function bookmark(revision: number): unknown {
  const annotations = { 'k8s.io/initial-events-end': 'true' }
  return {
    type: 'BOOKMARK',
    object: {
      kind: 'Bookmark',
      apiVersion: 'v1',
      metadata: { resourceVersion: String(revision), annotations },
    },
  }
}

function encode(event: unknown): Uint8Array {
  return encodeText(`${JSON.stringify(event)}\n`)
}

function respond(status: number, body: unknown): WireResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: encodeText(JSON.stringify(body)),
  }
}

function parsePath(path: string): Target {
  const parts = path.split('/').slice(1)
  const prefix = parts[0] === 'api' ? parts.splice(0, 2) : parts.splice(0, 3)
  const group = prefix.length === 3 ? prefix[1]! : ''
  const namespace = parts[0] === 'namespaces' && parts.length > 2 ? parts.splice(0, 2)[1] : undefined
  const [resource = '', name, subresource] = parts
  return {
    resource: { group, resource },
    collection: `/${[...prefix, resource].join('/')}`,
    namespace,
    name,
    subresource,
  }
}

function formatPath({ collection, namespace, name }: Target): string {
  if (!namespace) return `${collection}/${name}`
  const slash = collection.lastIndexOf('/')
  return `${collection.slice(0, slash)}/namespaces/${namespace}${collection.slice(slash)}/${name}`
}

function collectionOf(path: string): string {
  return parsePath(path).collection
}
