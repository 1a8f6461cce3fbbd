import type { ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'
import { Informer } from '@coxswain/informers'
import { TaskGroup } from '@coxswain/kit'
import { type Channel, createChannel, listerWatcherOf, type TaskContext } from '@coxswain/runtime'
import { ResourceKinds, type ServedKind } from '../resource-kinds.ts'

interface Counted {
  readonly byNamespace: Map<string, number>
  readonly filled: Promise<void>
  /** The quotas that requested it, by namespace. */
  readonly asking: Map<string, Set<string>>
}

interface Running {
  readonly context: TaskContext
  readonly group: TaskGroup
  readonly kinds: ResourceKinds
}

/** Counts the objects of any resource per namespace. Watches only metadata of resources that a quota limits. */
export class ObjectCounts {
  /** Quotas whose counts have decreased. */
  readonly changes: Channel = createChannel()
  readonly #running = Promise.withResolvers<Running>()
  readonly #counted = new Map<string, Counted>()
  #served: readonly ServedKind[] | undefined

  /** Runs until the task ends. */
  async run(context: TaskContext): Promise<void> {
    await using group = new TaskGroup(context.signal)
    this.#running.resolve({ context, group, kinds: new ResourceKinds(context.client.direct) })
    const { promise, resolve } = Promise.withResolvers<void>()
    if (context.signal.aborted) resolve()
    else context.signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
  }

  /** Undefined if the server does not serve the resource. `quota` is notified when the count decreases. */
  async count(
    { group, resource }: { readonly group: string; readonly resource: string },
    { namespace = '', name }: ObjectKey,
  ): Promise<number | undefined> {
    const running = await this.#running.promise
    const id = `${resource}.${group}`
    let counted = this.#counted.get(id)
    if (!counted) {
      const served = await this.#find(running, group, resource)
      if (!served) return undefined
      counted = this.#counted.get(id) ?? this.#watch(running, id, served)
    }
    const asking = counted.asking.get(namespace) ?? new Set()
    counted.asking.set(namespace, asking.add(name))
    await counted.filled
    return counted.byNamespace.get(namespace) ?? 0
  }

  async #find({ kinds }: Running, group: string, resource: string): Promise<ServedKind | undefined> {
    const search = () =>
      this.#served?.find(({ kind, verbs }) => {
        const isSame = kind.group === group && kind.resource === resource
        return (
          isSame &&
          kind.namespaced &&
          ['create', 'list', 'watch', 'delete'].every(verb => verbs.includes(verb))
        )
      })
    const known = search()
    if (known) return known
    this.#served = (await kinds.refresh()).resources
    return search()
  }

  #watch({ context, group }: Running, id: string, { kind }: ServedKind): Counted {
    const { client, env } = context
    const byNamespace = new Map<string, number>()
    const asking = new Map<string, Set<string>>()
    const informer = new Informer<ApiObject>({
      env,
      name: `quota ${id}`,
      source: listerWatcherOf(client.direct, kind, { metadataOnly: true }),
    })
    let isFilled = false
    const change = (namespace = '', by: number) => {
      byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + by)
      // Admission has already counted new objects.
      if (isFilled && by < 0)
        for (const name of asking.get(namespace) ?? []) this.changes.send({ namespace, name })
    }
    const registration = informer.addHandler({
      onAdd: ({ metadata }) => change(metadata.namespace, 1),
      onDelete: ({ metadata }) => change(metadata.namespace, -1),
    })
    group.spawn(signal => informer.run(signal))
    const filled = registration.synced(group.signal).then(() => {
      isFilled = true
    })
    const counted: Counted = { byNamespace, filled, asking }
    this.#counted.set(id, counted)
    return counted
  }
}
