import { MachineryError } from '../errors.ts'
import { compareCodePoints } from '../go/print-value.ts'
import { quote } from '../go/quote.ts'
import {
  formatGroupVersion,
  formatGroupVersionKind,
  formatGroupVersionResource,
  type GroupKind,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
} from '../meta/gvk.ts'

/** How one kind is served. */
export interface RESTMapping {
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly singular: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
}

/** A partial resource: the name (plural or singular, in any case), optionally a group or its beginning. */
export interface PartialResource {
  readonly group?: string
  readonly version?: string
  readonly resource: string
}

export interface RESTMapperOptions {
  /**
   * Resolves several matches: the first pattern with a match decides. Without it several matches are an error.
   * @default []
   */
  readonly priority?: readonly GroupVersion[]
  /**
   * Whether short names (`deploy`) are understood where no resource has the name.
   * @default false
   */
  readonly shortNames?: boolean
}

/** Maps kinds to resources and back. Immutable: a changed server needs a new mapper. */
export class RESTMapper {
  readonly #mappings: readonly RESTMapping[]
  readonly #priority: readonly GroupVersion[]
  readonly #shortNames: boolean

  constructor(mappings: Iterable<RESTMapping>, options: RESTMapperOptions = {}) {
    this.#mappings = [...mappings]
    this.#priority = options.priority ?? []
    this.#shortNames = options.shortNames ?? false
  }

  /** @throws MachineryError `NoMatch`, `AmbiguousMatch` */
  kindFor(partial: PartialResource): GroupVersionKind {
    const kinds = this.kindsFor(partial)
    return this.#choose(kinds) ?? fail(partial, 'kinds', kinds.map(formatGroupVersionKind))
  }

  /** @throws MachineryError `NoMatch`, `AmbiguousMatch` */
  resourceFor(partial: PartialResource): GroupVersionResource {
    const resources = this.resourcesFor(partial)
    return this.#choose(resources) ?? fail(partial, 'resources', resources.map(formatGroupVersionResource))
  }

  /** Every kind that the name may refer to. @throws MachineryError `NoMatch` */
  kindsFor(partial: PartialResource): GroupVersionKind[] {
    return distinct(
      this.#find(partial).map(mapping => mapping.kind),
      formatGroupVersionKind,
    )
  }

  /** Every resource that the name may refer to, always in the plural. @throws MachineryError `NoMatch` */
  resourcesFor(partial: PartialResource): GroupVersionResource[] {
    return distinct(
      this.#find(partial).map(mapping => mapping.resource),
      formatGroupVersionResource,
    )
  }

  /**
   * How a kind is served, at the first of `versions` that is served, or at the preferred version.
   * @throws MachineryError `NoMatch`, `AmbiguousMatch`
   */
  restMapping(kind: GroupKind, ...versions: readonly string[]): RESTMapping {
    const mappings = this.restMappings(kind, ...versions)
    const wanted = versions.map(version => ({ group: kind.group, version }))
    const chosen = this.#choose(
      mappings.map(mapping => mapping.kind),
      wanted,
    )
    const found = chosen && mappings.filter(mapping => mapping.kind === chosen)
    if (found?.length === 1) return found[0]!
    const partial = formatGroupVersionKind({ ...kind, version: '' })
    const kinds = mappings.map(mapping => formatGroupVersionKind(mapping.kind)).join(' ')
    throw new MachineryError('AmbiguousMatch', `${partial} matches multiple kinds [${kinds}]`)
  }

  /**
   * How a kind is served, at each of `versions`, or at all. Where two resources have one kind, the last one counts.
   * @throws MachineryError `NoMatch`
   */
  restMappings(kind: GroupKind, ...versions: readonly string[]): RESTMapping[] {
    const wanted = versions.filter(version => version !== '')
    const found = this.#mappings.filter(
      ({ kind: served }) =>
        served.group === kind.group &&
        (served.kind === kind.kind || served.kind.toLowerCase() === kind.kind) &&
        (wanted.length === 0 || wanted.includes(served.version)),
    )
    if (found.length === 0) throw noKind(kind, versions)
    return [...new Map(found.map(mapping => [formatGroupVersionKind(mapping.kind), mapping])).values()]
  }

  /** `pods` to `pod`. @throws MachineryError `NoMatch`, `AmbiguousMatch` */
  singularize(resource: string): string {
    const found = this.#find({ resource })
    const singulars = new Set(found.map(mapping => mapping.singular))
    if (singulars.size === 1) return found[0]!.singular
    const list = found.map(mapping => formatGroupVersionResource(mapping.resource)).join(' ')
    throw new MachineryError(
      'AmbiguousMatch',
      `multiple possible singular resources ([${list}]) found for ${resource}`,
    )
  }

  #find({ group = '', version = '', resource }: PartialResource): RESTMapping[] {
    const name = resource.toLowerCase()
    const partial = { group, version, resource: name }
    if (name === '') {
      const got = formatGroupVersionResource(partial)
      throw new MachineryError('NoMatch', `a resource must be present, got: ${got}`)
    }
    const named = this.#named(name).filter(mapping => version === '' || mapping.kind.version === version)
    let found = group === '' ? named : named.filter(mapping => mapping.kind.group === group)
    // A group may be shortened, unless a version is given too.
    if (found.length === 0 && version === '') found = named.filter(({ kind }) => kind.group.startsWith(group))
    if (found.length > 0) return found
    throw new MachineryError('NoMatch', `no matches for ${formatGroupVersionResource(partial)}`)
  }

  #named(name: string): readonly RESTMapping[] {
    const named = this.#mappings.filter(
      ({ resource, singular }) => resource.resource === name || singular === name,
    )
    if (named.length > 0 || !this.#shortNames) return named
    return this.#mappings.filter(({ shortNames }) => shortNames.includes(name))
  }

  // The only candidate, or the only one left by the first patterns that leave any.
  #choose<T extends GroupVersion>(
    candidates: readonly T[],
    first: readonly GroupVersion[] = [],
  ): T | undefined {
    let remaining = candidates
    const groups = new Set(this.#priority.map(({ group }) => group))
    const patterns: ((candidate: T) => boolean)[] = [
      ...[...first, ...this.#priority].map(
        ({ group, version }) =>
          (candidate: T) =>
            candidate.group === group && candidate.version === version,
      ),
      ...[...groups].map(group => (candidate: T) => candidate.group === group),
    ]
    for (const matches of patterns) {
      if (remaining.length === 1) break
      const matching = remaining.filter(matches)
      if (matching.length > 0) remaining = matching
    }
    return remaining.length === 1 ? remaining[0] : undefined
  }
}

function distinct<T>(items: readonly T[], format: (item: T) => string): T[] {
  return [...new Map(items.map(item => [format(item), item])).values()]
}

function fail({ group = '', version = '', resource }: PartialResource, what: string, found: string[]): never {
  const partial = formatGroupVersionResource({ group, version, resource })
  throw new MachineryError('AmbiguousMatch', `${partial} matches multiple ${what} [${found.join(' ')}]`)
}

function noKind({ group, kind }: GroupKind, versions: readonly string[]): MachineryError {
  const searched = [...new Set(versions.map(version => formatGroupVersion({ group, version })))]
  searched.sort(compareCodePoints)
  const quoted = searched.map(quote)
  const where =
    quoted.length === 0
      ? `in group ${quote(group)}`
      : quoted.length === 1
        ? `in version ${quoted[0]}`
        : `in versions [${quoted.join(' ')}]`
  return new MachineryError('NoMatch', `no matches for kind ${quote(kind)} ${where}`)
}

/** The likely plural and singular of a kind. For custom kinds only: servers report theirs. */
export function guessResource(kind: string): { plural: string; singular: string } {
  const singular = kind.toLowerCase()
  if (singular === '' || singular.endsWith('endpoints')) return { plural: singular, singular }
  if (singular.endsWith('s')) return { plural: `${singular}es`, singular }
  if (singular.endsWith('y')) return { plural: `${singular.slice(0, -1)}ies`, singular }
  return { plural: `${singular}s`, singular }
}
