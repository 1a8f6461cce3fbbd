/** The limits of listed changes and of shown values. */
const maxChanges = 12
const maxText = 40

/** Which fields differ, as `spec.replicas: 1 -> 2`. Fields that change with every write are left out. */
export function changedFields(before: unknown, after: unknown): string[] {
  const changes: string[] = []
  compare(before, after, '', changes)
  return changes
}

const alwaysChanging: ReadonlySet<string> = new Set(['metadata.resourceVersion', 'metadata.managedFields'])

function compare(before: unknown, after: unknown, path: string, changes: string[]): void {
  if (before === after || changes.length >= maxChanges || alwaysChanging.has(path)) return
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(before[name], after[name], join(path, name, Array.isArray(before)), changes)
    }
    return
  }
  changes.push(`${path}: ${show(before)} -> ${show(after)}`)
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function join(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`
  const member = /^[\w-]+$/.test(name) ? name : `[${JSON.stringify(name)}]`
  return path === '' ? member : member.startsWith('[') ? path + member : `${path}.${member}`
}

function show(value: unknown): string {
  if (value === undefined) return 'none'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > maxText ? `${text.slice(0, maxText)}...` : text
}
