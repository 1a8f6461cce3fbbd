import type { ApplyOf, Kind, KindOf } from '@coxswain/apimachinery/kinds'
import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { RuntimeError } from '../errors.ts'
import type { OperatorClient } from '../operator-client.ts'

/** The input of a dependent's functions. */
export interface DependentContext<T extends ApiObject = ApiObject> {
  /** The object that is reconciled. */
  readonly object: DeepReadonly<T>
  readonly client: OperatorClient
  /** The objects of another dependent; it has to be in `dependsOn`, so that it was reconciled before. */
  dependent(name: string): readonly DeepReadonly<ApiObject>[]
}

/** Objects that a controller manages for each object of its `for` kind. */
export interface DependentOptions<T extends ApiObject, K extends Kind> {
  /**
   * The desired objects: one, several, or none. They are applied server-side; the namespace is the owner's unless an object
   * has one. Objects of this dependent that are no longer desired are deleted.
   */
  desired(context: DependentContext<T>): Desired<K> | Promise<Desired<K>>
  /** The names of dependents that have to be ready before this one is applied. */
  readonly dependsOn?: readonly string[]
  /** While it is false the dependent is deleted, and before it those that depend on it. @default always */
  when?(context: DependentContext<T>): boolean | Promise<boolean>
  /** Whether an object is ready. @default as soon as it exists */
  readyWhen?(object: DeepReadonly<KindOf<K>>, context: DependentContext<T>): boolean
  /**
   * Whether the dependent takes part at all: while it is false its objects are neither applied nor deleted, and its kind,
   * which may not be installed, is not watched. @default always
   */
  activeWhen?(context: DependentContext<T>): boolean | Promise<boolean>
  /** Whether an object that is being deleted counts as deleted, so that its dependencies may be deleted next. @default when it no longer exists */
  deletedWhen?(object: DeepReadonly<KindOf<K>>): boolean
}

/** The desired objects of a dependent. */
export type Desired<K extends Kind> = ApplyOf<K> | readonly ApplyOf<K>[] | undefined

/** A dependent as data. */
export interface Dependent {
  readonly name: string
  readonly kind: Kind
  readonly options: DependentOptions<ApiObject, Kind>
}

/** Describes a dependent of objects of type `T`. */
export type DefineDependent<T extends ApiObject> = <K extends Kind>(
  name: string,
  kind: K,
  options: DependentOptions<T, K>,
) => Dependent

/** Options for all dependents of a controller. */
export interface DependentsOptions {
  /** The type of the condition in the owner's status that summarizes the dependents; false for none. @default 'Ready' */
  readonly condition?: string | false
  /**
   * The owner stays until its dependents are deleted, each after those that depend on it. Otherwise only dependents
   * that cannot have an owner reference (cluster-scoped, or in another namespace) are deleted that way, and garbage
   * collection deletes the others. @default false
   */
  readonly orderedDeletion?: boolean
  /** The field manager of the applies. @default the name of the controller */
  readonly fieldManager?: string
}

/** The dependents of a controller: in dependency order. */
export interface DependentsDefinition {
  readonly dependents: readonly Dependent[]
  readonly options: DependentsOptions
}

/** The state of a dependent in one word. */
export type DependentPhase =
  /** Its objects are as desired, and ready. */
  | 'Ready'
  | 'NotReady'
  /** Its dependencies are not ready. */
  | 'Waiting'
  /** Not active: see `activeWhen`. */
  | 'Inactive'
  /** Not desired, and not deleted yet. */
  | 'Deleting'
  /** Not desired, and does not exist. */
  | 'Absent'
  | 'Failed'

/** A dependent after it has been reconciled. */
export interface DependentState {
  readonly phase: DependentPhase
  readonly objects: readonly DeepReadonly<ApiObject>[]
  readonly error?: unknown
}

/** The dependents after they have been reconciled. */
export interface DependentsResult {
  /** Whether every dependent is `Ready`, `Inactive` or `Absent`. */
  readonly ready: boolean
  readonly states: ReadonlyMap<string, DependentState>
}

const validName = /^[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/

/**
 * Checks the dependents of a controller and sorts them in dependency order.
 * @throws RuntimeError `BadDefinition`
 */
export function defineDependents(
  controller: string,
  dependents: readonly Dependent[],
  options: DependentsOptions = {},
): DependentsDefinition {
  const refuse = (what: string): never => {
    throw new RuntimeError('BadDefinition', `controller ${controller}: ${what}`)
  }
  const byName = new Map<string, Dependent>()
  for (const dependent of dependents) {
    const { name } = dependent
    if (!validName.test(name)) refuse(`dependent name ${JSON.stringify(name)} is not a valid label value`)
    if (byName.has(name)) refuse(`there are two dependents ${name}`)
    byName.set(name, dependent)
  }
  const sorted = new Set<Dependent>()
  const visiting = new Set<string>()
  const visit = (dependent: Dependent): void => {
    const { name } = dependent
    if (sorted.has(dependent)) return
    if (visiting.has(name)) refuse(`dependents depend on each other: ${[...visiting, name].join(' -> ')}`)
    visiting.add(name)
    for (const before of dependent.options.dependsOn ?? [])
      visit(byName.get(before) ?? refuse(`dependent ${name} depends on ${before}, which is not a dependent`))
    visiting.delete(name)
    sorted.add(dependent)
  }
  for (const dependent of dependents) visit(dependent)
  return { dependents: [...sorted], options }
}
