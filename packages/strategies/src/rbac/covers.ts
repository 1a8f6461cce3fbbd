import { quoteAll } from '@coxswain/apimachinery/go'
import type { PolicyRule } from './rule.ts'

const none: readonly string[] = []

/** Pieces and bytes that an error lists. */
const maxPieces = 1_000
const maxTextLength = 64 * 1024
/** Comparisons of one item with one owned rule. Rules that need more are taken as not covered. */
const maxComparisons = 500_000

/** What the author of a role lacks: pieces of one verb and one resource or path each, in the order of the rules. */
export interface Uncovered {
  readonly pieces: readonly PolicyRule[]
  /** There are more pieces than these, or looking for them took too long. */
  readonly truncated: boolean
}

/** What `rules` grant that `owned` do not. A piece is covered when one owned rule has all of it. */
export function findUncovered(owned: readonly PolicyRule[], rules: readonly PolicyRule[]): Uncovered {
  const search = new Search()
  const owners = new OwnedRules(owned)
  const pieces: PolicyRule[] = []
  for (const { verbs, apiGroups = none, resources = none, resourceNames, nonResourceURLs = none } of rules) {
    const limited = resourceNames !== undefined && resourceNames.length > 0
    const names: readonly (string | undefined)[] = limited ? resourceNames : [undefined]
    for (const [group, resource, verb, name] of search.find(owners.ofResources(resources), [
      { items: apiGroups, has: (owner, item) => owner.hasGroup(item!) },
      { items: resources, has: (owner, item) => owner.hasResource(item!) },
      { items: verbs, has: (owner, item) => owner.hasVerb(item!) },
      { items: names, has: (owner, item) => owner.hasName(item) },
    ])) {
      const piece = { verbs: [verb!], apiGroups: [group!], resources: [resource!] }
      pieces.push(name === undefined ? piece : { ...piece, resourceNames: [name] })
    }
    for (const [path, verb] of search.find(owners.ofPaths, [
      {
        items: nonResourceURLs,
        has: (owner, item) => owner.hasPath(item!),
        cost: owner => 1 + owner.pathPrefixes.length,
      },
      { items: verbs, has: (owner, item) => owner.hasVerb(item!) },
    ])) {
      pieces.push({ verbs: [verb!], nonResourceURLs: [path!] })
    }
    if (search.truncated) break
  }
  return { pieces, truncated: search.truncated }
}

/** One list of a rule, and which owned rules have an item of it. */
interface Dimension {
  readonly items: readonly (string | undefined)[]
  readonly has: (owner: OwnedRule, item: string | undefined) => boolean
  /** What `has` costs. @default 1 */
  readonly cost?: (owner: OwnedRule) => number
}

/** Items of one list that the same owned rules have. */
interface Group {
  readonly owners: readonly OwnedRule[]
  readonly positions: number[]
}

/**
 * Looks for combinations of items that no owned rule has, without trying every combination: a list is split into groups
 * of items that the same owned rules have, and the next list is split once for each group.
 */
class Search {
  truncated = false
  #comparisons = 0
  #found = 0

  /** Combinations of one item of each list, in the order of the lists. */
  find(owners: readonly OwnedRule[], dimensions: readonly Dimension[]): (string | undefined)[][] {
    if (this.truncated || dimensions.some(({ items }) => items.length === 0)) return []
    const combinations: number[][] = []
    this.#split(owners, dimensions, [], combinations)
    combinations.sort(comparePositions)
    return combinations.map(positions =>
      positions.map((position, index) => dimensions[index]!.items[position]),
    )
  }

  /** `chosen` are positions in the lists that are split already. */
  #split(
    owners: readonly OwnedRule[],
    dimensions: readonly Dimension[],
    chosen: readonly (readonly number[])[],
    found: number[][],
  ): void {
    const open = dimensions.slice(chosen.length)
    if (owners.length === 0 || open.length === 0) {
      if (owners.length === 0) this.#expand([...chosen, ...open.map(({ items }) => [...items.keys()])], found)
      return
    }
    const coversAll = (owner: OwnedRule) =>
      open.every(dimension => dimension.items.every(item => this.#compare(dimension, owner, item)))
    if (owners.some(coversAll)) return
    for (const { owners: left, positions } of this.#groups(owners, open[0]!)) {
      if (this.truncated) return
      this.#split(left, dimensions, [...chosen, positions], found)
    }
  }

  #groups(owners: readonly OwnedRule[], dimension: Dimension): Iterable<Group> {
    const groups = new Map<string, Group>()
    for (const [position, item] of dimension.items.entries()) {
      const left: OwnedRule[] = []
      let key = ''
      for (const owner of owners) {
        if (!this.#compare(dimension, owner, item)) continue
        left.push(owner)
        key += owner.key
      }
      const group = groups.get(key)
      if (group) group.positions.push(position)
      else groups.set(key, { owners: left, positions: [position] })
    }
    return groups.values()
  }

  /** Adds every combination of `lists`, until there are enough. */
  #expand(lists: readonly (readonly number[])[], found: number[][]): void {
    const at = lists.map(() => 0)
    for (;;) {
      if (this.#found >= maxPieces) {
        this.truncated = true
        return
      }
      this.#found++
      found.push(at.map((position, index) => lists[index]![position]!))
      let last = lists.length - 1
      while (last >= 0 && at[last]! + 1 === lists[last]!.length) at[last--] = 0
      if (last < 0) return
      at[last]!++
    }
  }

  #compare({ has, cost }: Dimension, owner: OwnedRule, item: string | undefined): boolean {
    this.#comparisons += cost?.(owner) ?? 1
    if (this.#comparisons > maxComparisons) this.truncated = true
    return !this.truncated && has(owner, item)
  }
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  for (const [index, position] of one.entries()) {
    if (position !== other[index]) return position - other[index]!
  }
  return 0
}

/** Owned rules by resource and path, so that a rule is compared with few of them. */
class OwnedRules {
  readonly ofPaths: readonly OwnedRule[]
  readonly #byResource = new Map<string, OwnedRule[]>()

  constructor(rules: readonly PolicyRule[]) {
    const owners = rules.map((rule, id) => new OwnedRule(rule, id))
    this.ofPaths = owners.filter((_, id) => (rules[id]!.nonResourceURLs ?? none).length > 0)
    for (const [id, owner] of owners.entries()) {
      for (const resource of new Set(rules[id]!.resources)) {
        const same = this.#byResource.get(resource)
        if (same) same.push(owner)
        else this.#byResource.set(resource, [owner])
      }
    }
  }

  /** Those with at least one of `resources`. */
  ofResources(resources: readonly string[]): OwnedRule[] {
    const found = new Set<OwnedRule>()
    for (const name of new Set(resources.flatMap(resourcePatterns)))
      for (const owner of this.#byResource.get(name) ?? []) found.add(owner)
    return [...found]
  }
}

/** The forms in which a rule may have a resource. */
function resourcePatterns(resource: string): string[] {
  const slash = resource.indexOf('/')
  return slash < 0 ? ['*', resource] : ['*', resource, `*${resource.slice(slash)}`]
}

/** A rule with its lists compiled for many lookups. */
class OwnedRule {
  /** Two code units that no other owned rule has. */
  readonly key: string
  readonly #verbs: ReadonlySet<string>
  readonly #groups: ReadonlySet<string>
  readonly #resources: ReadonlySet<string>
  readonly #names: ReadonlySet<string>
  readonly #paths: ReadonlySet<string>
  readonly pathPrefixes: readonly string[]

  constructor(rule: PolicyRule, id: number) {
    this.key = String.fromCharCode(id >>> 16, id & 0xffff)
    this.#verbs = new Set(rule.verbs)
    this.#groups = new Set(rule.apiGroups)
    this.#resources = new Set(rule.resources)
    this.#names = new Set(rule.resourceNames)
    this.#paths = new Set(rule.nonResourceURLs)
    const prefixes = [...this.#paths].filter(path => path.endsWith('*'))
    this.pathPrefixes = prefixes.map(path => path.replace(/\*+$/, ''))
  }

  hasVerb(verb: string): boolean {
    return this.#verbs.has('*') || this.#verbs.has(verb)
  }

  hasGroup(group: string): boolean {
    return this.#groups.has('*') || this.#groups.has(group)
  }

  hasResource(resource: string): boolean {
    return resourcePatterns(resource).some(pattern => this.#resources.has(pattern))
  }

  /** Undefined stands for all names. */
  hasName(name: string | undefined): boolean {
    return this.#names.size === 0 || (name !== undefined && this.#names.has(name))
  }

  /** A rule that is limited to names has no paths. */
  hasPath(path: string): boolean {
    if (this.#names.size > 0) return false
    return this.#paths.has(path) || this.pathPrefixes.some(prefix => path.startsWith(prefix))
  }
}

/** Pieces that differ in their verbs alone become one rule each; the texts are upstream's, sorted, one a line. */
export function describeUncovered({ pieces, truncated }: Uncovered): string {
  const merged = new Map<string, { readonly piece: PolicyRule; readonly verbs: string[] }>()
  for (const piece of pieces) {
    const { verbs, ...rest } = piece
    const key = JSON.stringify(piece.nonResourceURLs ? piece : rest)
    const present = merged.get(key)
    if (present) for (const verb of verbs) present.verbs.push(verb)
    else merged.set(key, { piece, verbs: [...verbs] })
  }
  const rules = Array.from(merged.values(), ({ piece, verbs }) => describeRule({ ...piece, verbs }))
  const lines: string[] = []
  let length = 0
  let isCut = truncated
  for (const line of [...new Set(rules)].sort()) {
    length += line.length
    isCut ||= length > maxTextLength
    if (length > maxTextLength) break
    lines.push(line)
  }
  if (isCut) lines.push('... and more')
  return lines.join('\n')
}

function describeRule(rule: PolicyRule): string {
  const parts: readonly [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const texts = parts.flatMap(([title, items]) => (items?.length ? [`${title}:${quoteAll(items)}`] : []))
  return `{${texts.join(', ')}}`
}
