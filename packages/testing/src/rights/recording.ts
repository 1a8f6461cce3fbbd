import { compareCalls, type RecordedCall } from '@coxswain/runtime'

/** A verb on a resource, with the namespaces and names for which it was used: the first hundred of each. */
export interface RecordedVerb extends Pick<RecordedCall, 'verb' | 'group' | 'resource' | 'subresource'> {
  readonly namespaces: readonly string[]
  readonly names: readonly string[]
}

/** What the operators of one project called in one cluster. `coxswain rights` merges the recordings of all tests. */
export interface Recording {
  /** The folder of the project's package.json. */
  readonly root: string
  readonly verbs: readonly RecordedVerb[]
  /** The namespaces and names of the objects that were reconciled. */
  readonly reconciled: { readonly namespaces: readonly string[]; readonly names: readonly string[] }
}

const most = 100

/** Collects a {@link Recording}. */
export class Recorder {
  readonly #root: string
  readonly #verbs = new Map<
    string,
    { readonly call: RecordedCall; readonly namespaces: Set<string>; readonly names: Set<string> }
  >()
  readonly #namespaces = new Set<string>()
  readonly #names = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  addCall(call: RecordedCall): void {
    const { verb, group, resource, subresource = '', namespace = '', name = '' } = call
    const key = [verb, group, resource, subresource].join(' ')
    let entry = this.#verbs.get(key)
    if (!entry) {
      entry = { call, namespaces: new Set(), names: new Set() }
      this.#verbs.set(key, entry)
    }
    if (entry.namespaces.size < most) entry.namespaces.add(namespace)
    if (entry.names.size < most) entry.names.add(name)
  }

  /** @param key `namespace/name`, or the name of a cluster-scoped object */
  addReconciled(key: string): void {
    const [name, namespace] = key.split('/').reverse()
    this.#names.add(name ?? '')
    if (namespace !== undefined) this.#namespaces.add(namespace)
  }

  /** The recording, in an order that does not depend on that of the calls. */
  result(): Recording {
    const entries = [...this.#verbs.values()].sort((a, b) => compareCalls(a.call, b.call))
    return {
      root: this.#root,
      verbs: entries.map(({ call: { verb, group, resource, subresource }, namespaces, names }) => ({
        verb,
        group,
        resource,
        ...(subresource && { subresource }),
        namespaces: [...namespaces].sort(),
        names: [...names].sort(),
      })),
      reconciled: { namespaces: [...this.#namespaces].sort(), names: [...this.#names].sort() },
    }
  }
}
