import assert from 'node:assert/strict'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { EventHandler } from '../handler.ts'
import { isOlder } from '../resource-version.ts'
import type { FakeCollection, Pod } from './fake-collection.ts'

/**
 * A handler that checks its events for consistency: no update of an unknown object, no second addition, no change of uid, no step
 * back in time. Its final state has to be the server's.
 */
export class Observer implements EventHandler<Pod> {
  readonly objects: Map<string, DeepReadonly<Pod>> = new Map()
  readonly log: string[] = []
  readonly complaints: string[] = []
  /** The latest resourceVersion of each name, deleted or not. */
  readonly #newest = new Map<string, string>()

  onAdd(object: DeepReadonly<Pod>, { isInInitialList }: { isInInitialList: boolean }): void {
    const { name } = object.metadata
    this.log.push(`add ${name} ${object.spec.value}${isInInitialList ? ' initially' : ''}`)
    if (this.objects.has(name)) this.complaints.push(`${name} was added twice`)
    this.#keep(object)
  }

  onUpdate(old: DeepReadonly<Pod>, object: DeepReadonly<Pod>, { isResync }: { isResync: boolean }): void {
    const { name } = object.metadata
    this.log.push(isResync ? `resync ${name}` : `update ${name} ${old.spec.value} -> ${object.spec.value}`)
    if (this.objects.get(name) !== old)
      this.complaints.push(`the old state of ${name} is not what was reported before`)
    if (old.metadata.uid !== object.metadata.uid) this.complaints.push(`${name} became another object`)
    this.#keep(object)
  }

  onDelete(object: DeepReadonly<Pod>, { finalStateUnknown }: { finalStateUnknown: boolean }): void {
    const { name } = object.metadata
    this.log.push(`delete ${name}${finalStateUnknown ? ', missed' : ''}`)
    this.#checkTime(object)
    if (!this.objects.delete(name)) this.complaints.push(`${name} was deleted, but never added`)
  }

  #keep(object: DeepReadonly<Pod>): void {
    this.#checkTime(object)
    this.objects.set(object.metadata.name, object)
  }

  #checkTime(object: DeepReadonly<Pod>): void {
    const { name, resourceVersion } = object.metadata
    const newest = this.#newest.get(name)
    if (newest && isOlder(resourceVersion, newest))
      this.complaints.push(`${name} went back to ${resourceVersion}`)
    this.#newest.set(name, resourceVersion)
  }

  assertAgrees(server: FakeCollection): void {
    assert.deepEqual(this.complaints, [])
    assert.deepEqual(summary(this.objects.values()), summary(server.objects.values()))
  }
}

export function summary(objects: Iterable<DeepReadonly<Pod>>): string[] {
  return [...objects]
    .map(({ metadata, spec }) => `${metadata.name} ${metadata.resourceVersion} ${spec.value}`)
    .sort()
}
