import type { Snapshot } from './snapshot.ts'

/** What differs between two ends, in words: `Kind/name path: real, ours`. Empty when nothing does. */
export function findDifferences(real: Snapshot, ours: Snapshot): string[] {
  return [...compareObjects(real.objects, ours.objects), ...compareLines(real.events, ours.events, 'event')]
}

function compareLines(real: readonly string[], ours: readonly string[], what: string): string[] {
  return [
    ...real.filter(line => !ours.includes(line)).map(line => `${what} only with the real ones: ${line}`),
    ...ours.filter(line => !real.includes(line)).map(line => `${what} only with ours: ${line}`),
  ]
}

interface Named {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

/** Equal objects are taken out first; what is left is paired by kind and masked name. */
function compareObjects(real: readonly string[], ours: readonly string[]): string[] {
  const left = subtract(real, ours)
  const right = subtract(ours, real)
  const found: string[] = []
  for (const line of left) {
    const object = JSON.parse(line) as Named
    const name = nameOf(object)
    const index = right.findIndex(each => nameOf(JSON.parse(each) as Named) === name)
    const [partner] = index < 0 ? [] : right.splice(index, 1)
    if (partner === undefined) found.push(`only with the real ones: ${line}`)
    else
      for (const difference of compareValues(object, JSON.parse(partner), ''))
        found.push(`${name} ${difference}`)
  }
  return [...found, ...right.map(line => `only with ours: ${line}`)]
}

function subtract(from: readonly string[], what: readonly string[]): string[] {
  const rest = [...what]
  return from.filter(line => {
    const index = rest.indexOf(line)
    if (index >= 0) rest.splice(index, 1)
    return index < 0
  })
}

const nameOf = ({ kind, metadata }: Named) => `${kind}/${metadata.name}`

function compareValues(real: unknown, ours: unknown, path: string): string[] {
  if (JSON.stringify(real) === JSON.stringify(ours)) return []
  if (!isObject(real) || !isObject(ours) || Array.isArray(real) !== Array.isArray(ours))
    return [`${path}: real ${JSON.stringify(real)}, ours ${JSON.stringify(ours)}`]
  const keys = new Set([...Object.keys(real), ...Object.keys(ours)])
  return [...keys].flatMap(key => compareValues(real[key], ours[key], `${path}.${key}`))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
