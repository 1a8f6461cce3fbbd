import type { OwnerReference } from '@coxswain/apimachinery/meta'
import { BoundedMap } from '@coxswain/kit'

/** What an owner reference contains. */
export interface Coordinates {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** What identifies an object. */
export interface Identity extends Coordinates {
  /** Empty for cluster-scoped objects. For an owner known only by reference: that of the dependent. */
  readonly namespace: string
}

interface Dependent {
  readonly identity: Identity
  readonly owners: readonly OwnerReference[]
}

export function matches(a: Coordinates, b: Coordinates): boolean {
  return a.uid === b.uid && a.kind === b.kind && a.name === b.name && a.apiVersion === b.apiVersion
}

/** Splits dependents by whether their references to the owner's uid match `owner`. Some have both kinds. */
export function partition<D extends Dependent>(
  dependents: Iterable<D>,
  owner: Identity,
): { readonly matching: readonly D[]; readonly others: readonly D[] } {
  const matching: D[] = []
  const others: D[] = []
  for (const dependent of dependents) {
    const isElsewhere = owner.namespace !== '' && owner.namespace !== dependent.identity.namespace
    const references = dependent.owners.filter(({ uid }) => uid === owner.uid)
    const isMatch = (reference: OwnerReference) => !isElsewhere && matches(reference, owner)
    if (references.some(isMatch)) matching.push(dependent)
    if (isElsewhere || references.some(reference => !isMatch(reference))) others.push(dependent)
  }
  return { matching, others }
}

/**
 * The next identity, other than `absent`, that dependents give for an owner: in order, and after the last the first, so that each
 * is tried.
 */
export function replacementFor(dependents: Iterable<Dependent>, absent: Identity): Identity | undefined {
  const candidates = new Map<string, Identity>()
  for (const { identity, owners } of dependents) {
    for (const { apiVersion, kind, name, uid } of owners) {
      if (uid !== absent.uid) continue
      const isClusterScoped =
        absent.namespace === '' && apiVersion === absent.apiVersion && kind === absent.kind
      const candidate = {
        apiVersion,
        kind,
        name,
        uid,
        namespace: isClusterScoped ? '' : identity.namespace,
      }
      candidates.set(orderOf(candidate), candidate)
    }
  }
  const own = orderOf(absent)
  candidates.delete(own)
  const order = [...candidates.keys()].sort()
  const next = order.find(key => key > own) ?? order[0]
  return next === undefined ? undefined : candidates.get(next)
}

function orderOf({ kind, apiVersion, namespace, name, uid }: Identity): string {
  return [kind, apiVersion, namespace, name, uid].join('\0')
}

/** Owners that are known not to exist: a uid is never reused. Keeps only the latest. */
export class AbsentOwners {
  readonly #keys: BoundedMap<string, true>

  constructor(limit = 250) {
    this.#keys = new BoundedMap(limit)
  }

  add(identity: Identity): void {
    this.#keys.set(orderOf(identity), true)
  }

  has(identity: Identity): boolean {
    return this.#keys.get(orderOf(identity)) ?? false
  }
}
