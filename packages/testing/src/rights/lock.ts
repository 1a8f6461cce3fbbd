import { compareCalls, coversCall, type RecordedCall } from '@coxswain/runtime'
import type { RecordedVerb, Recording } from './recording.ts'

const none = { namespaces: new Set<string>(), names: new Set<string>() }

interface Uses {
  readonly verb: RecordedVerb
  readonly namespaces: Set<string>
  readonly names: Set<string>
}

/**
 * The rights of the recordings of one project, for its `rbac.lock.json`. A right is for one namespace, or one name, if every call had the
 * same and no other verb was used there and elsewhere; provided that `isWritten` finds it as a string in the operator's source, and that it is not that
 * of an object that was reconciled (lists and watches are restricted by options of the cache alone). Then it is a constant of the operator, and not a choice of the tests. A `watch` is granted with `list`: a
 * server that cannot begin a watch with the present objects is asked for a list.
 */
export function lockRights(
  recordings: readonly Recording[],
  isWritten: (text: string) => boolean,
): RecordedCall[] {
  const reconciled = {
    namespaces: new Set(recordings.flatMap(each => each.reconciled.namespaces)),
    names: new Set(recordings.flatMap(each => each.reconciled.names)),
  }
  const constantOf = (seen: ReadonlySet<string>, subjects: ReadonlySet<string>): string | undefined => {
    const [only = '', ...others] = seen
    const isConstant = only !== '' && others.length === 0 && !subjects.has(only) && isWritten(only)
    return isConstant ? only : undefined
  }
  const uses = [...usesOf(recordings)]
  const calls = uses.map(({ verb, namespaces, names }): RecordedCall => {
    const { verb: text, group, resource, subresource } = verb
    const isShared = (one: string) =>
      uses.some(
        other =>
          other.verb.group === group &&
          other.verb.resource === resource &&
          other.namespaces.size > 1 &&
          other.namespaces.has(one),
      )
    const subjects = text === 'list' || text === 'watch' ? none : reconciled
    const only = constantOf(namespaces, subjects.namespaces)
    const namespace = only === undefined || isShared(only) ? undefined : only
    const name = constantOf(names, subjects.names)
    return {
      verb: text,
      group,
      resource,
      ...(subresource !== undefined && { subresource }),
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
    }
  })
  const lists = calls.filter(({ verb }) => verb === 'watch').map(call => ({ ...call, verb: 'list' }))
  const added = lists.filter(list => !calls.some(call => coversCall(call, list)))
  return [...calls, ...added].sort(compareCalls)
}

function usesOf(recordings: readonly Recording[]): Iterable<Uses> {
  const all = new Map<string, Uses>()
  for (const verb of recordings.flatMap(({ verbs }) => verbs)) {
    const key = [verb.verb, verb.group, verb.resource, verb.subresource ?? ''].join(' ')
    const uses = all.get(key) ?? { verb, namespaces: new Set(), names: new Set() }
    all.set(key, uses)
    for (const namespace of verb.namespaces) uses.namespaces.add(namespace)
    for (const name of verb.names) uses.names.add(name)
  }
  return all.values()
}

/** The text of `rbac.lock.json`: one right a line. */
export function formatLock(calls: readonly RecordedCall[]): string {
  if (calls.length === 0) return '[]\n'
  return `[\n${calls.map(call => `  ${formatCall(call)}`).join(',\n')}\n]\n`
}

function formatCall({ group, resource, subresource, namespace, name, verb }: RecordedCall): string {
  const members = Object.entries({ group, resource, subresource, namespace, name, verb })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return `{ ${members.join(', ')} }`
}
