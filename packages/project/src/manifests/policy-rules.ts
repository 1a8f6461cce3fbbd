/** One rule of a role, before rules are merged. */
export interface Grant {
  readonly groups: readonly string[]
  readonly resources: readonly string[]
  readonly names?: readonly string[]
  readonly urls?: readonly string[]
  readonly verbs: readonly string[]
}

/** A PolicyRule of RBAC. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly resources?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

type Part = 'groups' | 'resources' | 'names' | 'urls' | 'verbs'

const parts: readonly Part[] = ['groups', 'resources', 'names', 'urls', 'verbs']

type Sets = Readonly<Record<Part, readonly string[]>>

/** The rules that grant the same and are as few as controller-gen makes them, in its order. */
export function mergeGrants(grants: readonly Grant[]): PolicyRule[] {
  const single = grants.flatMap(({ names = [], urls = [], groups, resources, verbs }): Sets[] =>
    resources.length === 0
      ? [{ groups, resources, names, urls, verbs }]
      : resources.map(resource => ({ groups, resources: [resource], names, urls, verbs })),
  )
  // The order of the steps decides which rules can be merged.
  const steps: readonly Part[] = ['verbs', 'resources', 'groups', 'urls']
  const merged = steps.reduce<readonly Sets[]>(mergeBy, single)
  return [...merged].sort((a, b) => compare(orderOf(a), orderOf(b))).map(toPolicyRule)
}

/** Unites the rules that are equal but for one part. */
function mergeBy(rules: readonly Sets[], part: Part): Sets[] {
  const others = parts.filter(each => each !== part)
  const groups = new Map<string, Sets[]>()
  for (const rule of rules) {
    const { groups: own, resources, names, urls, verbs } = rule
    const sorted: Sets = {
      groups: unique(own),
      resources: unique(resources),
      names: unique(names),
      urls: unique(urls),
      verbs: unique(verbs),
    }
    const key = JSON.stringify(others.map(each => sorted[each]))
    const known = groups.get(key)
    if (known) known.push(sorted)
    else groups.set(key, [sorted])
  }
  return [...groups.values()].map(same => ({ ...same[0]!, [part]: unique(same.flatMap(rule => rule[part])) }))
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compare)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function orderOf({ groups, resources, names, urls }: Sets): string {
  return [groups, resources, names, urls].map(part => part.join('&')).join(' + ')
}

function toPolicyRule({ groups, resources, names, urls, verbs }: Sets): PolicyRule {
  return {
    ...(groups.length > 0 && { apiGroups: groups }),
    ...(urls.length > 0 && { nonResourceURLs: urls }),
    ...(names.length > 0 && { resourceNames: names }),
    ...(resources.length > 0 && { resources }),
    verbs: verbs.includes('*') ? ['*'] : verbs,
  }
}
