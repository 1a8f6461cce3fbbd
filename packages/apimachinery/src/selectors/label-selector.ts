import { MachineryError } from '../errors.ts'
import { Path } from '../field/path.ts'
import { compareCodePoints } from '../go/print-value.ts'
import { quote } from '../go/quote.ts'
import type { LabelSelector, LabelSelectorRequirement } from '../meta/label-selector.ts'
import { parseRequirements } from './parser.ts'
import {
  createRequirement,
  formatRequirement,
  type LabelOperator,
  type Labels,
  matchesRequirement,
  type Requirement,
} from './requirement.ts'

/** A label selector: all requirements must hold. Immutable. */
export class Selector {
  /** Sorted by key. */
  readonly requirements: readonly Requirement[]
  readonly #nothing: boolean

  private constructor(requirements: readonly Requirement[], nothing: boolean) {
    this.requirements = requirements
    this.#nothing = nothing
  }

  static readonly everything: Selector = new Selector([], false)
  static readonly nothing: Selector = new Selector([], true)

  /** The requirements are not validated: see {@link createRequirement}. */
  static of(requirements: readonly Requirement[]): Selector {
    return Selector.everything.add(...requirements)
  }

  matches(labels: Labels | undefined): boolean {
    if (this.#nothing) return false
    const present = labels ?? none
    for (const requirement of this.requirements) if (!matchesRequirement(requirement, present)) return false
    return true
  }

  /** True when it selects everything. */
  get isEmpty(): boolean {
    return !this.#nothing && this.requirements.length === 0
  }

  /** True when it can never match, whatever the labels: what an absent `LabelSelector` means. */
  get isNothing(): boolean {
    return this.#nothing
  }

  /** A narrower selector. */
  add(...requirements: readonly Requirement[]): Selector {
    if (this.#nothing) return this
    const all = [...this.requirements, ...requirements]
    return new Selector(
      all.sort((a, b) => compareCodePoints(a.key, b.key)),
      false,
    )
  }

  /** The one value that the first requirement on `key` allows, if it allows just one. */
  requiresExactMatch(key: string): string | undefined {
    const requirement = this.requirements.find(candidate => candidate.key === key)
    if (requirement?.values.length !== 1) return undefined
    return exact.has(requirement.operator) ? requirement.values[0] : undefined
  }

  /** The canonical text; empty for everything, and for nothing. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(',')
  }
}

const none: Labels = Object.freeze({})
const exact: ReadonlySet<LabelOperator> = new Set<LabelOperator>(['=', '==', 'in'])

/**
 * Parses `app=web,tier in (a,b),!legacy,generation>3`. An empty text selects everything.
 * @throws MachineryError `BadSelector` with upstream's message
 */
export function parseLabelSelector(text: string, path: Path = Path.root): Selector {
  return Selector.of(parseRequirements(text, path))
}

/** Exactly these labels, which are not checked. */
export function selectorFromLabels(labels: Labels | undefined): Selector {
  return Selector.of(
    Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] })),
  )
}

const wireOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

type ReadonlyLabelSelector = {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

/**
 * An absent selector selects nothing, an empty one everything.
 * @throws MachineryError `BadSelector`
 */
export function labelSelectorAsSelector(selector: ReadonlyLabelSelector | null | undefined): Selector {
  if (!selector) return Selector.nothing
  const requirements: Requirement[] = []
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(createRequirement(key, '=', [value]))
  }
  for (const { key, operator, values: given } of selector.matchExpressions ?? []) {
    const values = given ?? []
    const op = wireOperators.get(operator)
    if (!op) {
      throw new MachineryError('BadSelector', `${quote(operator)} is not a valid label selector operator`)
    }
    requirements.push(createRequirement(key, op, values))
  }
  return Selector.of(requirements)
}

/**
 * Converts the text form to the structured form. `!=`, `>` and `<` cannot be converted.
 * @throws MachineryError `BadSelector`
 */
export function parseToLabelSelector(text: string): LabelSelector {
  const requirements = parsedOrExplained(text)
  const matchLabels: [string, string][] = []
  const matchExpressions: LabelSelectorRequirement[] = []
  for (const { key, operator, values } of requirements) {
    switch (operator) {
      case '=':
      case '==':
        matchLabels.push([key, values[0]!])
        break
      case 'in':
      case 'notin':
        matchExpressions.push({ key, operator: operator === 'in' ? 'In' : 'NotIn', values: [...values] })
        break
      case 'exists':
      case '!':
        matchExpressions.push({ key, operator: operator === '!' ? 'DoesNotExist' : 'Exists', values: [] })
        break
      default: {
        const problem =
          operator === '!=' ? 'is not a valid label selector operator' : `isn't supported in label selectors`
        throw new MachineryError('BadSelector', `${quote(operator)} ${problem}`)
      }
    }
  }
  return { matchLabels: Object.fromEntries(matchLabels), matchExpressions }
}

function parsedOrExplained(text: string): readonly Requirement[] {
  try {
    return parseLabelSelector(text).requirements
  } catch (error) {
    const reason = (error as Error).message
    throw new MachineryError('BadSelector', `couldn't parse the selector string "${text}": ${reason}`, {
      cause: error,
    })
  }
}

/** For people: `<none>` for an empty or absent selector, `<error>` for an invalid one. */
export function formatLabelSelector(selector: ReadonlyLabelSelector | null | undefined): string {
  try {
    return labelSelectorAsSelector(selector).toString() || '<none>'
  } catch {
    return '<error>'
  }
}
