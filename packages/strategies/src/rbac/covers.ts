import type { PolicyRule } from './rule.ts'

const none: readonly string[] = []

/** What `rules` grant that `owned` do not, each piece a rule of one verb and one resource or path. */
export function findUncovered(owned: readonly PolicyRule[], rules: readonly PolicyRule[]): PolicyRule[] {
  return rules.flatMap(breakDown).filter(piece => !owned.some(owner => covers(owner, piece)))
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const {
    verbs = none,
    apiGroups = none,
    resources = none,
    resourceNames = none,
    nonResourceURLs = none,
  } = rule
  const pieces: PolicyRule[] = []
  for (const group of apiGroups)
    for (const resource of resources)
      for (const verb of verbs) {
        const piece = { verbs: [verb], apiGroups: [group], resources: [resource] }
        if (resourceNames.length === 0) pieces.push(piece)
        for (const name of resourceNames) pieces.push({ ...piece, resourceNames: [name] })
      }
  for (const path of nonResourceURLs)
    for (const verb of verbs) pieces.push({ verbs: [verb], nonResourceURLs: [path] })
  return pieces
}

/** `piece` has at most one of everything. */
function covers(owner: PolicyRule, piece: PolicyRule): boolean {
  const has = (items: readonly string[] = none, wanted: readonly string[] = none) =>
    items.includes('*') || wanted.every(item => items.includes(item))
  const { resourceNames: ownNames = none, nonResourceURLs: ownPaths = none } = owner
  const { resources = none, resourceNames = none, nonResourceURLs = none } = piece
  return (
    has(owner.verbs, piece.verbs) &&
    has(owner.apiGroups, piece.apiGroups) &&
    resources.every(resource => coversResource(owner.resources ?? none, resource)) &&
    (ownNames.length === 0 ||
      (resourceNames.length > 0 && resourceNames.every(name => ownNames.includes(name)))) &&
    nonResourceURLs.every(path => ownPaths.some(own => coversPath(own, path)))
  )
}

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`)
}

function coversPath(own: string, path: string): boolean {
  return own === path || (own.endsWith('*') && path.startsWith(own.replace(/\*+$/, '')))
}

/** Pieces that differ in their verbs alone become one rule each; the texts are upstream's, sorted. */
export function describePieces(pieces: readonly PolicyRule[]): string[] {
  const merged = new Map<string, PolicyRule>()
  for (const piece of pieces) {
    const { verbs, ...rest } = piece
    const key = JSON.stringify(piece.nonResourceURLs ? piece : rest)
    const present = merged.get(key)
    merged.set(key, present ? { ...present, verbs: [...present.verbs, ...verbs] } : piece)
  }
  return [...new Set(Array.from(merged.values(), describeRule))].sort()
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

/** As Go's `%q` prints a list. */
export function quoteAll(items: readonly string[]): string {
  return `[${items.map(item => JSON.stringify(item)).join(' ')}]`
}
