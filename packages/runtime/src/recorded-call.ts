import { RuntimeError } from './errors.ts'

/** A right that an operator used in a test: an entry of `rbac.lock.json`. */
export interface RecordedCall {
  readonly verb: string
  /** Empty for the core group. */
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  /** Set where the right is for one namespace only. */
  readonly namespace?: string
  /** Set where the right is for one object only. */
  readonly name?: string
}

/** Reads the value of `rbac.lock.json`. @throws RuntimeError `BadDefinition` */
export function readRecordedCalls(value: unknown): RecordedCall[] {
  if (!Array.isArray(value))
    throw new RuntimeError('BadDefinition', 'rbac.lock.json: must be a list of calls')
  return value.map((entry, index) => readCall(entry, `rbac.lock.json: [${index}]`))
}

function readCall(entry: unknown, place: string): RecordedCall {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new RuntimeError('BadDefinition', `${place}: must be an object`)
  const members = entry as Readonly<Record<string, unknown>>
  const text = (key: string): string | undefined => {
    const value = Object.hasOwn(members, key) ? members[key] : undefined
    if (value !== undefined && typeof value !== 'string')
      throw new RuntimeError('BadDefinition', `${place}.${key}: must be a string`)
    return value
  }
  const verb = text('verb')
  const resource = text('resource')
  if (!verb || !resource) throw new RuntimeError('BadDefinition', `${place}: needs a verb and a resource`)
  const rest = (['subresource', 'namespace', 'name'] as const).flatMap(key => {
    const value = text(key)
    return value ? [[key, value] as const] : []
  })
  return { verb, resource, group: text('group') ?? '', ...Object.fromEntries(rest) }
}

/** Whether `right` allows what `call` does. */
export function coversCall(right: RecordedCall, call: RecordedCall): boolean {
  return (
    right.verb === call.verb &&
    right.group === call.group &&
    right.resource === call.resource &&
    (right.subresource ?? '') === (call.subresource ?? '') &&
    (right.namespace === undefined || right.namespace === call.namespace) &&
    (right.name === undefined || right.name === call.name)
  )
}

/** `patch deployments.apps/status in kube-system named web`: a right in words. */
export function describeCall(call: RecordedCall): string {
  const { verb, group, resource, subresource, namespace, name } = call
  const target = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
  return `${verb} ${target}${namespace ? ` in ${namespace}` : ''}${name ? ` named ${name}` : ''}`
}

/** The order of `rbac.lock.json`. */
export function compareCalls(a: RecordedCall, b: RecordedCall): number {
  const [left, right] = [orderOf(a), orderOf(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Parts are separated by a character that no name has. */
function orderOf({
  group,
  resource,
  subresource = '',
  namespace = '',
  name = '',
  verb,
}: RecordedCall): string {
  return [group, resource, subresource, namespace, name, verb].join(' ')
}
