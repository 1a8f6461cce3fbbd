import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { Client, DeleteOptions } from '@coxswain/client'
import type { Script } from './scripted-pods.ts'

/** What people do in a namespace; the controllers see it. It is played with the real ones and with ours. */
export interface Scenario {
  readonly name: string
  /** @default every pod gets ready */
  readonly script?: Script
  readonly act: (stage: Stage) => Promise<unknown>
  /** Events whose text depends on who is faster, and are left out: lines as in the snapshot. */
  readonly chanceEvents?: RegExp
  /** Whether generations of ReplicaSets depend on it too. @default false */
  readonly chanceGenerations?: boolean
}

/** Milliseconds without a change that count as the end. */
const quietTime = 2_500
const patience = 60_000

export interface StageOptions {
  readonly client: Client
  readonly namespace: string
  /** `performance.now()` of the last change in the namespace. */
  readonly lastChange: () => number
}

/** A namespace in which one scenario is played with one set of controllers. */
export class Stage {
  readonly client: Client
  readonly namespace: string
  readonly #lastChange: () => number

  constructor({ client, namespace, lastChange }: StageOptions) {
    this.client = client
    this.namespace = namespace
    this.#lastChange = lastChange
  }

  create<K extends Kind>(kind: K, name: string, object: object = {}): Promise<KindOf<K>> {
    const { metadata = {}, ...rest } = object as { metadata?: object }
    const whole = { metadata: { ...metadata, name, namespace: this.namespace }, ...rest }
    return this.client.create(kind, whole as never)
  }

  async patch(kind: Kind, name: string, patch: object, subresource?: string): Promise<void> {
    await this.client.patch(kind, { namespace: this.namespace, name }, patch as never, {
      type: 'merge',
      ...(subresource !== undefined && { subresource }),
    })
  }

  async remove(kind: Kind, name: string, options?: DeleteOptions): Promise<void> {
    await this.client.delete(kind, { namespace: this.namespace, name }, options)
  }

  get<K extends Kind>(kind: K, name: string): Promise<KindOf<K> | undefined> {
    return this.client.get(kind, { namespace: this.namespace, name })
  }

  async list<K extends Kind>(kind: K): Promise<readonly KindOf<K>[]> {
    return (await this.client.list(kind, { namespace: this.namespace })).items
  }

  /** Resolves when it holds; rejects after a minute, if nothing else is said. */
  async until(what: string, holds: () => Promise<unknown>, within: number = patience): Promise<void> {
    for (const end = performance.now() + within; performance.now() < end; await sleep(200))
      if (await holds()) return
    throw new Error(`${this.namespace}: not within ${within} ms: ${what}`)
  }

  /** Resolves when nothing has changed for a while, which begins now. */
  async settle(ms: number = quietTime): Promise<void> {
    const begin = performance.now()
    for (const end = begin + patience; performance.now() < end; ) {
      const left = Math.max(begin, this.#lastChange()) + ms - performance.now()
      if (left <= 0) return
      await sleep(left + 10)
    }
    throw new Error(`${this.namespace} does not come to rest`)
  }
}
