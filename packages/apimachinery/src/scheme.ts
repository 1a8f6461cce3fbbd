import { MachineryError } from './errors.ts'
import {
  formatGroupKind,
  formatGroupVersion,
  formatGroupVersionKind,
  type GroupKind,
  type GroupVersion,
  type GroupVersionKind,
  gvkOf,
} from './gvk.ts'
import { deepCopyJson } from './internal/deep-copy.ts'
import { quote } from './internal/quote.ts'
import type { Kind } from './kind.ts'
import { RESTMapper, type RESTMapperOptions, type RESTMapping } from './rest-mapper.ts'
import { comparePreferredVersions } from './version.ts'

/** An object of which nothing is known but that it says what it is. */
export type AnyObject = Record<string, unknown> & { apiVersion?: string; kind?: string }

/** Turns an object of one version into another's. It is given a copy, and need not set `apiVersion`. */
export type ConversionFunction = (object: AnyObject) => AnyObject

/** Fills in what is missing. It is given a copy to change. */
export type DefaultingFunction = (object: AnyObject) => void

/** Gives a field selector's term the name and value it has inside a server, or throws. */
export type FieldLabelFunction = (label: string, value: string) => readonly [label: string, value: string]

/** Which kinds there are, and how the versions of a kind become one another. */
export class Scheme {
  readonly name: string
  readonly #kinds = new Map<string, Kind>()
  readonly #unversioned = new Map<string, Kind>()
  readonly #priority = new Map<string, readonly string[]>()
  readonly #conversions = new Map<string, Map<string, Map<string, ConversionFunction>>>()
  readonly #defaulting = new Map<string, DefaultingFunction[]>()
  readonly #fieldLabels = new Map<string, FieldLabelFunction>()

  constructor(name: string) {
    this.name = name
  }

  /** @throws MachineryError `KindConflict` when something else has that name; the same kind again is nothing new */
  register(...kinds: readonly Kind[]): this {
    for (const kind of kinds) this.#add(this.#kinds, formatGroupVersionKind(kind), kind)
    return this
  }

  /**
   * Kinds that look the same in every version of every group, such as `Status`.
   * @throws MachineryError `KindConflict`
   */
  registerUnversioned(...kinds: readonly Kind[]): this {
    for (const kind of kinds) {
      this.#add(this.#unversioned, kind.kind, kind)
      this.register(kind)
    }
    return this
  }

  #add(map: Map<string, Kind>, key: string, kind: Kind): void {
    const old = map.get(key)
    if (old === kind) return
    const gvk = formatGroupVersionKind(kind)
    if (kind.version === '' || kind.kind === '') {
      throw new MachineryError('KindConflict', `version and kind are required on all kinds: ${gvk}`)
    }
    if (old) {
      const both = `old=${describe(old)}, new=${describe(kind)}`
      const message = `Double registration of different kinds for ${gvk}: ${both} in scheme ${quote(this.name)}`
      throw new MachineryError('KindConflict', message)
    }
    map.set(key, kind)
  }

  /** Every kind, in the order of registration. */
  kinds(): Kind[] {
    return [...this.#kinds.values()]
  }

  recognizes(gvk: GroupVersionKind): boolean {
    return this.#find(gvk) !== undefined
  }

  /** @throws MachineryError `KindNotRegistered` */
  kindOf(gvk: GroupVersionKind): Kind {
    const found = this.#find(gvk)
    if (found) return found
    const version = quote(formatGroupVersion(gvk))
    const what =
      gvk.kind === ''
        ? `no version ${version} has been registered`
        : `no kind ${quote(gvk.kind)} is registered for version ${version}`
    throw new MachineryError('KindNotRegistered', `${what} in scheme ${quote(this.name)}`)
  }

  #find(gvk: GroupVersionKind): Kind | undefined {
    return this.#kinds.get(formatGroupVersionKind(gvk)) ?? this.#unversioned.get(gvk.kind)
  }

  isUnversioned(kind: string): boolean {
    return this.#unversioned.has(kind)
  }

  /** The order of preference of a group's versions; those not named come after, in Kubernetes' order. */
  setVersionPriority(group: string, versions: readonly string[]): this {
    this.#priority.set(group, [...versions])
    return this
  }

  /** The versions of a group in which anything is registered, the preferred one first. */
  prioritizedVersions(group: string): GroupVersion[] {
    const registered = new Set(this.kinds().flatMap(kind => (kind.group === group ? [kind.version] : [])))
    const named = (this.#priority.get(group) ?? []).filter(version => registered.delete(version))
    const others = [...registered].sort(comparePreferredVersions)
    return [...named, ...others].map(version => ({ group, version }))
  }

  /** The groups in the order of registration, each with its versions by preference. */
  prioritizedVersionsAllGroups(): GroupVersion[] {
    const groups = new Set(this.kinds().map(kind => kind.group))
    return [...groups].flatMap(group => this.prioritizedVersions(group))
  }

  /** The versions in which a kind is registered, the preferred one first. */
  versionsOf({ group, kind }: GroupKind): GroupVersion[] {
    return this.prioritizedVersions(group).filter(({ version }) =>
      this.#kinds.has(formatGroupVersionKind({ group, version, kind })),
    )
  }

  /** Of a pair of versions with no function of its own, the shortest chain of functions is used. */
  addConversion(kind: GroupKind, from: string, to: string, convert: ConversionFunction): this {
    const key = formatGroupKind(kind)
    const bySource = this.#conversions.get(key) ?? new Map<string, Map<string, ConversionFunction>>()
    const byTarget = bySource.get(from) ?? new Map<string, ConversionFunction>()
    byTarget.set(to, convert)
    bySource.set(from, byTarget)
    this.#conversions.set(key, bySource)
    return this
  }

  /**
   * The object at another version: a copy, also when the version is its own.
   * @throws MachineryError `KindNotRegistered`, `ConversionMissing`
   */
  convert(object: AnyObject, version: string): AnyObject {
    const gvk = gvkOf(object)
    this.kindOf(gvk)
    if (this.isUnversioned(gvk.kind) || gvk.version === version) return deepCopyJson(object)
    this.kindOf({ ...gvk, version })
    let converted = deepCopyJson(object)
    for (const step of this.#path(gvk, version)) {
      const next = step.convert(converted)
      converted = {
        ...next,
        apiVersion: formatGroupVersion({ group: gvk.group, version: step.to }),
        kind: gvk.kind,
      }
    }
    return converted
  }

  // Breadth first: the shortest chain, and of several the one registered first.
  #path(gvk: GroupVersionKind, target: string): { to: string; convert: ConversionFunction }[] {
    const bySource = this.#conversions.get(formatGroupKind(gvk))
    const seen = new Set([gvk.version])
    let front: { at: string; steps: { to: string; convert: ConversionFunction }[] }[] = [
      { at: gvk.version, steps: [] },
    ]
    while (front.length > 0) {
      const next: typeof front = []
      for (const { at, steps } of front) {
        for (const [to, convert] of bySource?.get(at) ?? []) {
          if (to === target) return [...steps, { to, convert }]
          if (seen.has(to)) continue
          seen.add(to)
          next.push({ at: to, steps: [...steps, { to, convert }] })
        }
      }
      front = next
    }
    const from = quote(formatGroupVersion(gvk))
    const to = quote(formatGroupVersion({ group: gvk.group, version: target }))
    const message = `${from} is not suitable for converting to ${to} in scheme ${quote(this.name)}`
    throw new MachineryError('ConversionMissing', `${message}: no conversion of ${formatGroupKind(gvk)}`)
  }

  /** Several functions run in the order of registration. */
  addDefaulting(gvk: GroupVersionKind, fill: DefaultingFunction): this {
    const key = formatGroupVersionKind(gvk)
    this.#defaulting.set(key, [...(this.#defaulting.get(key) ?? []), fill])
    return this
  }

  /** A copy with defaults filled in. A kind without defaults comes back as it is. */
  default(object: AnyObject): AnyObject {
    const functions = this.#defaulting.get(formatGroupVersionKind(gvkOf(object)))
    if (!functions) return object
    const copy = deepCopyJson(object)
    for (const fill of functions) fill(copy)
    return copy
  }

  addFieldLabelConversion(gvk: GroupVersionKind, convert: FieldLabelFunction): this {
    this.#fieldLabels.set(formatGroupVersionKind(gvk), convert)
    return this
  }

  /**
   * What a field selector on this kind may name. Without a function of its own, a kind has `metadata.name` and
   * `metadata.namespace`.
   * @throws MachineryError `FieldLabelNotSupported`, or what the function throws
   */
  convertFieldLabel(gvk: GroupVersionKind, label: string, value: string): readonly [string, string] {
    const convert = this.#fieldLabels.get(formatGroupVersionKind(gvk)) ?? convertMetadataFieldLabel
    return convert(label, value)
  }

  /** A mapper of everything registered that has a resource; versions by preference. */
  restMapper(options: Omit<RESTMapperOptions, 'priority'> = {}): RESTMapper {
    const mappings = this.kinds()
      .filter(kind => kind.resource !== '')
      .map<RESTMapping>(({ group, version, kind, resource, singular, namespaced }) => ({
        kind: { group, version, kind },
        resource: { group, version, resource },
        singular,
        namespaced,
        shortNames: [],
      }))
    return new RESTMapper(mappings, { ...options, priority: this.prioritizedVersionsAllGroups() })
  }
}

/** The rule for kinds with no selectable fields of their own. */
export function convertMetadataFieldLabel(label: string, value: string): readonly [string, string] {
  if (label === 'metadata.name' || label === 'metadata.namespace') return [label, value]
  const message = `${quote(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`
  throw new MachineryError('FieldLabelNotSupported', message)
}

function describe(kind: Kind): string {
  const scope = kind.namespaced ? 'Namespaced' : 'Cluster'
  return `${kind.resource || kind.kind}${kind.group === '' ? '' : `.${kind.group}`} (${scope}, list ${kind.listKind})`
}
