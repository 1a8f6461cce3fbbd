import type { ServerState } from '../request/context.ts'

/** Something that each server has one of; made when it is first asked for. Plug-ins themselves are shared. */
export function perServer<T>(create: (state: ServerState) => T): (state: ServerState) => T {
  const made = new WeakMap<ServerState, T>()
  return state => {
    let found = made.get(state)
    if (found === undefined) {
      found = create(state)
      made.set(state, found)
    }
    return found
  }
}
