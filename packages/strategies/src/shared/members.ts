/** The struct under `key`; an empty one is put there first when there is none. */
export function childOf<T, K extends keyof T>(parent: T, key: K): NonNullable<T[K]> {
  const made = parent[key] ?? ({} as NonNullable<T[K]>)
  parent[key] = made
  return made
}

/** Sets members that are absent. */
export function fill<T extends object>(object: T, defaults: Readonly<Partial<T>>): void {
  for (const key of Object.keys(defaults) as (keyof T)[]) object[key] ??= defaults[key]!
}

/** Makes members what they were before; those that were absent are removed. */
export function keep<T extends object>(object: T, old: T, members: readonly (keyof T)[]): void {
  for (const member of members) {
    if (old[member] === undefined) delete object[member]
    else object[member] = old[member]
  }
}
