import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { ConfigMap, Event, Namespace, Secret } from '@coxswain/api/core/v1'
import { PriorityClass } from '@coxswain/api/scheduling/v1'
import type { Kind } from '@coxswain/apimachinery/kinds'
import type { ApiObject } from '@coxswain/apimachinery/meta'
import { type Client, type DeleteOptions, type DynamicKind, kindFor } from '@coxswain/client'
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

/** A cluster, in the words of those who speak of owners and namespaces. */
export class Stage {
  readonly cluster: Cluster

  constructor(cluster: Cluster) {
    this.cluster = cluster
  }

  get client(): Client {
    return this.cluster.client
  }

  later(ms: number = aWhile): Promise<void> {
    return this.cluster.advance(ms)
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
