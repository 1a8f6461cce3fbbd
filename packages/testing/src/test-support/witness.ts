import assert from 'node:assert/strict'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { type EventHandler, isOlder } from '@coxswain/informers'

type Seen = DeepReadonly<ApiObject>

/**
 * A handler that checks the consistency of events: no update of an unknown object, no second add, no
 * change of identity, no step back in time.
 */
export class Witness implements EventHandler<ApiObject> {
  readonly #objects = new Map<string, Seen>()
  readonly #newest = new Map<string, string>()
  readonly #complaints: string[] = []

  onAdd(object: Seen): void {
    const name = nameOf(object)
    if (this.#objects.has(name)) this.#complaints.push(`${name} was added twice`)
    this.#keep(name, object)
  }

  onUpdate(old: Seen, object: Seen): void {
    const name = nameOf(object)
    if (this.#objects.get(name) !== old) this.#complaints.push(`${name}: not the last known version`)
    if (old.metadata.uid !== object.metadata.uid) this.#complaints.push(`${name} became another object`)
    this.#keep(name, object)
  }

  onDelete(object: Seen): void {
    const name = nameOf(object)
    this.#checkTime(name, object)
    if (!this.#objects.delete(name)) this.#complaints.push(`${name} was deleted, but never there`)
  }

  #keep(name: string, object: Seen): void {
    this.#checkTime(name, object)
    this.#objects.set(name, object)
  }

  #checkTime(name: string, { metadata: { resourceVersion } }: Seen): void {
    const newest = this.#newest.get(name)
    if (newest && isOlder(resourceVersion, newest))
      this.#complaints.push(`${name} went back from ${newest} to ${resourceVersion}`)
    this.#newest.set(name, resourceVersion)
  }

  /** What it holds has to be what the server has. */
  assertAgrees(truth: Iterable<Seen>, message: string): void {
    assert.deepEqual(this.#complaints, [], message)
    assert.deepEqual(summary(this.#objects.values()), summary(truth), `${message}: a handler`)
  }
}

export function summary(objects: Iterable<Seen>): string[] {
  return [...objects]
    .map(object => {
      const { uid, resourceVersion, labels = {} } = object.metadata
      const { data = {} } = object as { data?: Record<string, string> }
      return `${nameOf(object)} ${uid} ${resourceVersion} ${JSON.stringify(labels)} ${JSON.stringify(data)}`
    })
    .sort()
}

function nameOf({ metadata: { namespace = '', name } }: Seen): string {
  return `${namespace}/${name}`
}
