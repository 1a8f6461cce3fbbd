import type { Kind, KindOf } from '@coxswain/apimachinery/kinds'
import {
  type ApiObject,
  type DeepReadonly,
  formatKey,
  keyOf,
  type ObjectKey,
} from '@coxswain/apimachinery/meta'
import { isOlder } from '@coxswain/informers'
import { BoundedMap } from '@coxswain/kit'
import type { FinalizerDefinition } from '../controller-builder.ts'
import { addFinalizer } from '../finalizer.ts'
import { kindKey } from '../internal/kind-key.ts'
import type { ReconcileContext, Reconciler } from '../reconcile.ts'
import { requeueAfter } from '../reconcile.ts'
import type {
  Dependent,
  DependentContext,
  DependentPhase,
  DependentState,
  DependentsDefinition,
} from './dependent.ts'
import { hasDesired } from './hash.ts'
import { dependentLabel, hashAnnotation, indexValue, type Marked, mark, ownerIndex } from './marks.ts'
import { resultOf, writeCondition } from './roll-up.ts'

type Live = DeepReadonly<ApiObject>

/** The version of an object that was last seen as desired, and what was desired then. */
interface UpToDate {
  readonly resourceVersion: string
  readonly hash: string
}

export interface WorkflowOptions {
  /** The name of the controller. */
  readonly controller: string
  /** The kind of the owners. */
  readonly kind: Kind
  readonly definition: DependentsDefinition
  /** Begins to watch a kind that is not watched from the start. */
  readonly watch: (kind: Kind) => void
}

/** How often deletions are checked when there is no event. */
const deletionPoll = 60_000

/** The most dependents that are remembered as up to date although the server normalizes them. */
const maxRemembered = 10_000

/** Reconciles the dependents of a controller's objects: in order, pruned, deleted in reverse order. */
export class Workflow {
  readonly #options: WorkflowOptions
  /** By uid of a dependent. */
  readonly #upToDate = new BoundedMap<string, UpToDate>(maxRemembered)

  constructor(options: WorkflowOptions) {
    this.#options = options
  }

  /** Deletes the dependents before their owner is deleted. */
  get finalizer(): FinalizerDefinition {
    const { definition } = this.#options
    return {
      name: finalizerOf(this.#options.controller),
      cleanUp: context => this.#cleanUp(context),
      onDemand: !definition.options.orderedDeletion,
    }
  }

  /** A reconciler that reconciles the dependents before it calls `reconcile`, which finds them in its context. */
  before(reconcile: Reconciler): Reconciler {
    return async context => {
      const { client, key, clock } = context
      const { kind, definition } = this.#options
      const owner = (await client.get(kind, key)) as Live | undefined
      if (!owner || owner.metadata.deletionTimestamp) return reconcile(context)
      const run = new Run(this.#options, { context, owner, upToDate: this.#upToDate })
      for (const dependent of definition.dependents) await run.settle(dependent)
      for (const dependent of definition.dependents.toReversed()) await run.removeUndesired(dependent)
      await run.removeForgotten()
      const result = resultOf(run.states)
      const { condition = 'Ready' } = definition.options
      const latest = (await client.get(kind, key)) as Live | undefined
      if (condition !== false && latest?.metadata.uid === owner.metadata.uid)
        await writeCondition({ client, clock }, { kind, object: latest, type: condition }, result)
      throwFirst([...result.states.values()])
      return reconcile({ ...context, dependents: result })
    }
  }

  async #cleanUp(context: ReconcileContext) {
    const { kind, definition } = this.#options
    const owner = (await context.client.get(kind, context.key)) as Live | undefined
    if (!owner) return undefined
    const run = new Run(this.#options, { context, owner, upToDate: this.#upToDate })
    await run.removeForgotten()
    for (const dependent of definition.dependents.toReversed()) await run.remove(dependent)
    throwFirst([...run.states.values()])
    return resultOf(run.states).ready ? undefined : requeueAfter(deletionPoll)
  }
}

/** The finalizer of a controller's dependents. */
export function finalizerOf(controller: string): string {
  return `coxswain.dev/${controller}-dependents`
}

interface RunOptions {
  readonly context: ReconcileContext
  readonly owner: Live
  readonly upToDate: BoundedMap<string, UpToDate>
}

/** The dependents of one owner in one reconcile. */
class Run {
  readonly states: Map<string, DependentState> = new Map()
  readonly #options: WorkflowOptions
  readonly #context: ReconcileContext
  readonly #owner: Live
  readonly #upToDate: BoundedMap<string, UpToDate>
  /** Dependents that are not desired; their phase is decided later. */
  readonly #undesired = new Set<string>()
  readonly #own: DependentContext

  constructor(options: WorkflowOptions, { context, owner, upToDate }: RunOptions) {
    this.#options = options
    this.#context = context
    this.#owner = owner
    this.#upToDate = upToDate
    this.#own = {
      object: owner,
      client: context.client,
      dependent: name => this.states.get(name)?.objects ?? [],
    }
  }

  /** Applies a dependent when its dependencies are ready. Failures become its state. */
  async settle(dependent: Dependent): Promise<void> {
    await this.#attempt(dependent, async () => {
      const { dependsOn = [], when } = dependent.options
      const before = dependsOn.map(name => ({ name, phase: this.states.get(name)?.phase }))
      if (before.some(({ name, phase }) => phase === 'Inactive' || this.#undesired.has(name)))
        return this.#isNotDesired(dependent)
      if (before.some(({ phase }) => phase !== 'Ready')) return { phase: 'Waiting', objects: [] }
      if (!(await this.#isActive(dependent))) return { phase: 'Inactive', objects: [] }
      if (when && !(await when(this.#own))) return this.#isNotDesired(dependent)
      return this.#apply(dependent)
    })
  }

  async removeUndesired(dependent: Dependent): Promise<void> {
    if (this.#undesired.has(dependent.name)) await this.remove(dependent)
  }

  /** Deletes a dependent unless another one that depends on it still exists. */
  async remove(dependent: Dependent): Promise<void> {
    await this.#attempt(dependent, async () => {
      if (!(await this.#isActive(dependent))) return { phase: 'Inactive', objects: [] }
      const { dependents } = this.#options.definition
      const isNeeded = dependents.some(
        ({ name, options }) =>
          options.dependsOn?.includes(dependent.name) && !hasEnded(this.states.get(name)?.phase),
      )
      if (!isNeeded) await this.#delete(dependent.kind, await this.#find(dependent))
      const { deletedWhen } = dependent.options
      const objects = (await this.#find(dependent)).filter(object => !deletedWhen?.(object as never))
      return { phase: objects.length > 0 ? 'Deleting' : 'Absent', objects }
    })
  }

  /** Deletes the objects of dependents that the controller no longer has. */
  async removeForgotten(): Promise<void> {
    const { dependents } = this.#options.definition
    const names = new Set(dependents.map(({ name }) => name))
    const kinds = new Map(
      dependents.filter(({ options }) => !options.activeWhen).map(({ kind }) => [kindKey(kind), kind]),
    )
    for (const kind of kinds.values()) {
      const objects = await this.#list(kind)
      await this.#delete(
        kind,
        objects.filter(({ metadata }) => !names.has(metadata.labels?.[dependentLabel] ?? '')),
      )
    }
  }

  #isNotDesired({ name }: Dependent): DependentState {
    this.#undesired.add(name)
    return { phase: 'Deleting', objects: [] }
  }

  async #isActive({ kind, options }: Dependent): Promise<boolean> {
    if (!options.activeWhen) return true
    if (!(await options.activeWhen(this.#own))) return false
    this.#options.watch(kind)
    return true
  }

  async #apply(dependent: Dependent): Promise<DependentState> {
    const { kind, name, options } = dependent
    const { controller } = this.#options
    const desired = (await options.desired(this.#own)) as object | readonly object[] | undefined
    const wanted = Array.isArray(desired) ? desired : desired === undefined ? [] : [desired]
    const existing = new Map((await this.#find(dependent)).map(object => [formatKey(keyOf(object)), object]))
    const objects: Live[] = []
    for (const each of wanted) {
      const marked = mark(each, { controller, owner: this.#owner, dependent: name, kind })
      const key = formatKey(marked.key)
      objects.push(await this.#ensure(dependent, marked, existing.get(key)))
      existing.delete(key)
    }
    await this.#delete(kind, [...existing.values()])
    const { readyWhen } = options
    const isReady = objects.every(
      object => !object.metadata.deletionTimestamp && (!readyWhen || readyWhen(object as never, this.#own)),
    )
    return { phase: isReady ? 'Ready' : 'NotReady', objects }
  }

  /** The object after it has been applied; one that is already as desired is not written. */
  async #ensure(dependent: Dependent, marked: Marked, known: Live | undefined): Promise<Live> {
    const { kind, options } = dependent
    const { client } = this.#context
    const { controller, definition } = this.#options
    const { hash, body, key } = marked
    if (known) {
      const { uid, resourceVersion, annotations, deletionTimestamp } = known.metadata
      const last = this.#upToDate.get(uid)
      // A version older than our own write is stale: the watch has not delivered it yet.
      const isRemembered =
        last?.hash === hash &&
        (last.resourceVersion === resourceVersion || isOlder(resourceVersion, last.resourceVersion))
      const isPartial = known.kind !== kind.kind
      if (deletionTimestamp || (isRemembered && !(isPartial && options.readyWhen))) return known
      const live = isPartial ? await this.#read(kind, key) : known
      if (live && (isRemembered || (annotations?.[hashAnnotation] === hash && hasDesired(live, body)))) {
        this.#remember(live, hash)
        return live
      }
    }
    if (!marked.isOwned) await this.#hold()
    const fieldManager = definition.options.fieldManager ?? controller
    const applied = (await client.apply(kind, body as never, { fieldManager, force: true })) as Live
    this.#remember(applied, hash)
    return applied
  }

  #remember({ metadata }: Live, hash: string): void {
    const { uid, resourceVersion } = metadata
    this.#upToDate.set(uid, { resourceVersion, hash })
  }

  /** The owner stays until dependents that garbage collection cannot find are deleted. */
  async #hold(): Promise<void> {
    const { client, key } = this.#context
    const { kind, controller } = this.#options
    const owner = (await client.get(kind, key)) as Live | undefined
    if (owner) await addFinalizer(client, kind, owner, finalizerOf(controller))
  }

  async #delete(kind: Kind, objects: readonly Live[]): Promise<void> {
    for (const { metadata } of objects) {
      if (metadata.deletionTimestamp) continue
      const preconditions = { uid: metadata.uid }
      await this.#context.client.delete(kind, keyOf({ metadata }), { preconditions })
    }
  }

  async #find({ kind, name }: Dependent): Promise<readonly Live[]> {
    const objects = await this.#list(kind)
    return objects.filter(({ metadata }) => metadata.labels?.[dependentLabel] === name)
  }

  /** From the cache, also for uncached kinds: those are watched, at least their metadata. */
  async #list(kind: Kind): Promise<readonly Live[]> {
    const fields = { [ownerIndex]: indexValue(this.#options.controller, this.#owner.metadata.uid) }
    const { items } = await this.#context.client.list(kind, { cached: true, fields })
    return items as readonly Live[]
  }

  async #read(kind: Kind, key: ObjectKey): Promise<Live | undefined> {
    const object: DeepReadonly<KindOf<Kind>> | undefined = await this.#context.client.get(kind, key, {
      cached: false,
    })
    return object as Live | undefined
  }

  async #attempt({ name }: Dependent, work: () => Promise<DependentState>): Promise<void> {
    try {
      this.states.set(name, await work())
    } catch (error) {
      this.#context.signal.throwIfAborted()
      this.states.set(name, { phase: 'Failed', objects: [], error })
    }
  }
}

function hasEnded(phase: DependentPhase | undefined): boolean {
  return phase === 'Absent' || phase === 'Inactive'
}

/** The reconcile fails with its dependents, after all were tried. */
function throwFirst(states: readonly DependentState[]): void {
  const errors = states.filter(({ phase }) => phase === 'Failed').map(({ error }) => error)
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '))
}
