import assert from 'node:assert/strict'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { ConfigMap, Event, Namespace, Secret } from '@coxswain/api/core/v1'
import { PriorityClass } from '@coxswain/api/scheduling/v1'
import type { ApiObject, Kind } from '@coxswain/apimachinery'
import { type Client, createClient, type DeleteOptions, type DynamicKind, kindFor } from '@coxswain/client'
import { createGarbageCollector, createNamespaceController } from '@coxswain/controllers'
import { aborted, type VirtualWorld } from '@coxswain/kit'
import { type Operator, runOperator } from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import type { Cluster } from '../cluster.ts'

/** Long enough for discovery, queues and retries. */
export const aWhile = 30_000

/** A namespaced and a cluster-scoped custom kind. */
export const Ship: DynamicKind = customKind('Ship', 'ships', true)
export const Port: DynamicKind = customKind('Port', 'ports', false)
export { ConfigMap, Namespace, PriorityClass, Secret }

function customKind(kind: string, resource: string, namespaced: boolean): DynamicKind {
  return kindFor({ group: 'example.com', version: 'v1', kind, resource, namespaced })
}

export interface Made {
  readonly kind: Kind
  readonly name: string
  readonly namespace?: string
  readonly uid: string
}

export interface Owner extends Partial<Made> {
  readonly kind: Kind
  readonly name: string
  readonly uid: string
  readonly blocking?: boolean
}

export interface MakeOptions {
  readonly namespace?: string
  readonly owners?: readonly Owner[]
  readonly finalizers?: readonly string[]
}

/** A cluster in which the collector and the namespace controller can be killed after any of their writes. */
export class Stage {
  readonly cluster: Cluster
  readonly world: VirtualWorld
  readonly #operators: readonly Operator[] = [createGarbageCollector(), createNamespaceController()]
  readonly #crashAfter: number | undefined
  #writes = 0
  #incarnation: { readonly stop: AbortController; readonly done: Promise<unknown> } | undefined
  #isDead = false
  #restarting: Promise<void> | undefined

  constructor(cluster: Cluster, world: VirtualWorld, crashAfter?: number) {
    this.cluster = cluster
    this.world = world
    this.#crashAfter = crashAfter
  }

  get client(): Client {
    return this.cluster.client
  }

  /** How many writes the controllers have sent, in all their lives. */
  get writes(): number {
    return this.#writes
  }

  async start(): Promise<void> {
    this.#boot()
    await this.world.advance(10_000)
  }

  async stop(): Promise<void> {
    await this.#restarting
    this.#incarnation?.stop.abort()
    await this.cluster.run(this.#incarnation?.done ?? Promise.resolve())
  }

  #boot(): void {
    this.#isDead = false
    const stop = new AbortController()
    const client = createClient({
      env: this.world,
      transport: this.#mortal(this.cluster.connect()),
      onWarning: () => {},
    })
    const runs = this.#operators.map(operator =>
      runOperator(operator, { client, env: this.world, signal: stop.signal, gracefulShutdown: 0 }),
    )
    this.#incarnation = { stop, done: Promise.allSettled(runs) }
  }

  /** Nothing passes in either direction once the process is dead; the write that killed it has been done. */
  #mortal(inner: Transport): Transport {
    let isDead = false
    return {
      send: async request => {
        if (isDead) return await never(request.signal)
        const isWrite = request.method !== 'GET' && !request.path.includes('/events')
        const number = isWrite ? ++this.#writes : 0
        const response = await inner.send(request)
        if (number > 0 && number === this.#crashAfter) {
          isDead = true
          this.#crash()
        }
        return isDead ? await never(request.signal) : response
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  #crash(): void {
    if (this.#isDead) return
    this.#isDead = true
    const { stop, done } = this.#incarnation!
    stop.abort()
    this.#restarting = done.then(async () => {
      await this.world.clock.sleep(2_000)
      this.#boot()
      this.#restarting = undefined
    })
  }

  later(ms: number = aWhile): Promise<void> {
    return this.world.advance(ms)
  }

  async make(kind: Kind, name: string, options: MakeOptions = {}): Promise<Made> {
    const { owners = [], finalizers = [] } = options
    const namespace = kind.namespaced ? (options.namespace ?? 'default') : undefined
    const metadata = {
      name,
      ...(namespace !== undefined && { namespace }),
      ownerReferences: owners.map(referenceTo),
      finalizers: [...finalizers],
    }
    const extra = kind === PriorityClass ? { value: 1 } : {}
    const made = await this.cluster.run(this.client.create(kind, { metadata, ...extra } as never))
    return { kind, name, ...(namespace !== undefined && { namespace }), uid: made.metadata.uid }
  }

  map(name: string, options?: MakeOptions): Promise<Made> {
    return this.make(ConfigMap, name, options)
  }

  async remove(made: Omit<Made, 'uid'>, options?: DeleteOptions): Promise<void> {
    await this.cluster.run(this.client.delete(made.kind, keyOf(made), options))
  }

  async patch(made: Omit<Made, 'uid'>, metadata: object): Promise<void> {
    await this.cluster.run(this.client.patch(made.kind, keyOf(made), { metadata }, { type: 'merge' }))
  }

  /** Makes the custom kinds known, and waits until the collector watches them. */
  async defineKinds(...kinds: readonly DynamicKind[]): Promise<void> {
    for (const { group, version, kind, resource, namespaced } of kinds) {
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
      await this.cluster.run(
        this.client.create(CustomResourceDefinition, {
          metadata: { name: `${resource}.${group}` },
          spec: {
            group,
            scope: namespaced ? 'Namespaced' : 'Cluster',
            names: { kind, plural: resource },
            versions: [{ name: version, served: true, storage: true, schema }],
          },
        } as never),
      )
    }
    await this.later()
  }

  /** What is there, in words: `ConfigMap child <- owner [finalizer], going`. Things every cluster has are left out. */
  async state(kinds: readonly Kind[] = [ConfigMap, Secret]): Promise<string[]> {
    const lines: string[] = []
    for (const kind of kinds) {
      const { items } = await this.cluster.run(this.client.list(kind))
      for (const item of items as readonly ApiObject[]) if (!isStock(item)) lines.push(describe(kind, item))
    }
    return lines.sort()
  }

  async eventReasons(): Promise<string[]> {
    const { items } = await this.cluster.run(this.client.list(Event))
    return [...new Set(items.map(({ reason, message }) => `${reason}: ${message}`))].sort()
  }

  /** Nothing changes any more, however long one waits; nobody even tries, unless `writes`. */
  async assertRests(
    kinds: readonly Kind[],
    { ms, writes }: { readonly ms: number; readonly writes: boolean },
    message: string,
  ): Promise<void> {
    const before = await this.state(kinds)
    const sent = this.#writes
    await this.world.advance(ms)
    assert.deepEqual(await this.state(kinds), before, `${message}: it does not stay`)
    if (!writes) assert.equal(this.#writes - sent, 0, `${message}: writes when all is done`)
  }
}

async function never(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw signal.reason
}

function referenceTo({ kind, name, uid, blocking }: Owner) {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  return { apiVersion, kind: kind.kind, name, uid, ...(blocking && { blockOwnerDeletion: true }) }
}

function keyOf({ name, namespace }: { readonly name: string; readonly namespace?: string }) {
  return namespace === undefined ? { name } : { namespace, name }
}

function describe(kind: Kind, { metadata }: ApiObject): string {
  const { namespace, name, ownerReferences = [], finalizers = [], deletionTimestamp } = metadata
  const owners = ownerReferences.map(owner => `${owner.name}${owner.blockOwnerDeletion ? '!' : ''}`)
  return [
    `${kind.kind} ${namespace && namespace !== 'default' ? `${namespace}/` : ''}${name}`,
    owners.length > 0 ? ` <- ${owners.sort().join(', ')}` : '',
    finalizers.length > 0 ? ` [${[...finalizers].sort().join(', ')}]` : '',
    deletionTimestamp ? ', going' : '',
  ].join('')
}

const stock = /^(default|kube-.*|system-.*|kubernetes)$/

function isStock({ metadata: { name, namespace } }: ApiObject): boolean {
  return stock.test(name) || (namespace !== undefined && /^kube-/.test(namespace))
}
