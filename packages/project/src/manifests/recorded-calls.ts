import { ProjectError } from '../errors.ts'

/** A call that an operator made in a test: an entry of `rbac.lock.json`. */
export interface RecordedCall {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  /** Set where the right is for one namespace only. */
  readonly namespace?: string
  /** Set where the right is for one object only. */
  readonly name?: string
}

/** Reads the value of `rbac.lock.json`. @throws ProjectError `BadManifests` */
export function readRecordedCalls(value: unknown): RecordedCall[] {
  if (!Array.isArray(value)) throw new ProjectError('BadManifests', 'rbac.lock.json: must be a list of calls')
  return value.map((entry, index) => readCall(entry, `rbac.lock.json: [${index}]`))
}

function readCall(entry: unknown, place: string): RecordedCall {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new ProjectError('BadManifests', `${place}: must be an object`)
  const members = entry as Readonly<Record<string, unknown>>
  const text = (key: string): string | undefined => {
    const value = Object.hasOwn(members, key) ? members[key] : undefined
    if (value !== undefined && typeof value !== 'string')
      throw new ProjectError('BadManifests', `${place}.${key}: must be a string`)
    return value
  }
  const verb = text('verb')
  const resource = text('resource')
  if (!verb || !resource) throw new ProjectError('BadManifests', `${place}: needs a verb and a resource`)
  const rest = (['subresource', 'namespace', 'name'] as const).flatMap(key => {
    const value = text(key)
    return value ? [[key, value] as const] : []
  })
  return { verb, resource, group: text('group') ?? '', ...Object.fromEntries(rest) }
}
