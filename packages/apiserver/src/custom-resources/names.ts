import { deepEqual } from '@coxswain/apimachinery/json'
import type { CrdNames } from './crd.ts'
import type { CrdCondition } from './crd-condition.ts'

/** Names that other CRDs of the same group hold. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

/** The union of the names of several CRDs. */
export function takenNames(accepted: Iterable<CrdNames>): TakenNames {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { plural, singular, shortNames = [], kind, listKind } of accepted) {
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

export interface NameVerdict {
  /** The names the CRD is served under: the requested ones, except those that other CRDs hold. */
  readonly accepted: CrdNames
  readonly condition: CrdCondition
}

/** Accepts the requested names that no other CRD holds, and keeps those accepted before. Reports the last conflict. */
export function acceptNames(wanted: CrdNames, held: CrdNames, { resources, kinds }: TakenNames): NameVerdict {
  const accepted: Record<string, unknown> = {
    plural: held.plural ?? '',
    singular: held.singular,
    shortNames: held.shortNames,
    kind: held.kind ?? '',
    listKind: held.listKind,
  }
  let conflict: { readonly reason: string; readonly message: string } | undefined
  const grant = (name: 'plural' | 'singular' | 'kind' | 'listKind', taken: ReadonlySet<string>) => {
    const value = wanted[name] ?? ''
    if (value === (held[name] ?? '') || !taken.has(value)) accepted[name] = value
    else conflict = { reason: `${name[0]!.toUpperCase()}${name.slice(1)}Conflict`, message: inUse(value) }
  }
  grant('plural', resources)
  grant('singular', resources)
  if (!deepEqual(wanted.shortNames, held.shortNames)) {
    const own = new Set(held.shortNames)
    const refused = (wanted.shortNames ?? []).filter(name => !own.has(name) && resources.has(name))
    const messages = [...new Set(refused.map(inUse))]
    if (messages.length === 0) accepted.shortNames = wanted.shortNames
    else {
      const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
      conflict = { reason: 'ShortNamesConflict', message }
    }
  }
  grant('kind', kinds)
  grant('listKind', kinds)
  accepted.categories = wanted.categories
  for (const name of Object.keys(accepted)) if (!accepted[name] && !isRequired(name)) delete accepted[name]
  return {
    accepted: accepted as CrdNames,
    condition: conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
  }
}

function isRequired(name: string): boolean {
  return name === 'plural' || name === 'kind'
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}
