import type { DynamicKind } from '@coxswain/client'
import type { GarbageCollectorOptions, ResourceKinds, ServedKind } from '@coxswain/controllers'
import type { Clock } from '@coxswain/kit'
import type { WireRequest } from '@coxswain/wire'

type CollectedResources = NonNullable<GarbageCollectorOptions['resources']>

/** How often the resources are discovered once a definition was written, in milliseconds. */
const discoveryPeriod = 5_000

/** Owners that no request creates. */
const initial: readonly string[] = ['/nodes']

export interface WrittenResourcesPorts {
  readonly kinds: ResourceKinds
  readonly clock: Clock
  /** Called at every write to a resource, `GROUP/RESOURCE`. */
  readonly onWrite: (resource: string) => void
}

/**
 * The resources that have been written, by anyone: the garbage collector of a cluster that starts from a snapshot watches only these,
 * because a resource without objects has no dependents. What is served comes from the snapshot until a definition is written.
 */
export class WrittenResources implements CollectedResources {
  /** `GROUP/RESOURCE`. */
  readonly names: Set<string>
  readonly #kinds: ResourceKinds
  readonly #clock: Clock
  #served: readonly ServedKind[]
  #isOutdated = false
  #change = Promise.withResolvers<void>()

  readonly #onWrite: (resource: string) => void

  constructor(from: ServedSnapshot, { kinds, clock, onWrite }: WrittenResourcesPorts) {
    this.#onWrite = onWrite
    this.#served = from.served
    this.names = new Set([...initial, ...from.written])
    this.#kinds = kinds
    this.#clock = clock
  }

  /** Called for every request to the server. */
  note({ method, path }: WireRequest): void {
    if (method === 'GET' || method === 'HEAD') return
    const name = resourceOf(path)
    if (name === undefined) return
    if (name === 'apiextensions.k8s.io/customresourcedefinitions') this.#isOutdated = true
    this.#onWrite(name)
    if (this.names.has(name)) return
    this.names.add(name)
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  async refresh(): Promise<{ readonly resources: readonly ServedKind[] }> {
    if (this.#isOutdated) this.#served = (await this.#kinds.refresh()).resources
    return { resources: this.#served.filter(({ kind }) => this.names.has(`${kind.group}/${kind.resource}`)) }
  }

  async find(apiVersion: string, kindName: string): Promise<DynamicKind> {
    const known = this.#served.find(
      ({ kind }) =>
        kind.kind === kindName &&
        (kind.group ? `${kind.group}/${kind.version}` : kind.version) === apiVersion,
    )
    return known?.kind ?? (await this.#kinds.find(apiVersion, kindName))
  }

  async changed(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>()
    const onAbort = () => aborted.resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    const waits = [this.#change.promise, aborted.promise]
    if (this.#isOutdated) waits.push(this.#clock.sleep(discoveryPeriod, { signal }).catch(() => {}))
    await Promise.race(waits)
    signal.removeEventListener('abort', onAbort)
  }
}

/** What is served, and which of it was written. */
export interface ServedSnapshot {
  readonly served: readonly ServedKind[]
  readonly written: readonly string[]
}

/** `GROUP/RESOURCE` of a path of the API; undefined for other paths. */
function resourceOf(path: string): string | undefined {
  const [, root, ...parts] = path.split('/')
  if (root !== 'api' && root !== 'apis') return undefined
  const group = root === 'api' ? '' : (parts.shift() ?? '')
  const [, first, , inNamespace] = parts
  const resource = first === 'namespaces' && inNamespace !== undefined ? inNamespace : first
  return resource === undefined ? undefined : `${group}/${resource}`
}
