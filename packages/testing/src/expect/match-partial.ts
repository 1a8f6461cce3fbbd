/**
 * What `toHave` takes: a part of an object. Strings may be regular expressions, and a field that is undefined has to be absent.
 */
export type Expected<T> = T extends string
  ? T | RegExp
  : T extends readonly (infer E)[]
    ? readonly Expected<E>[]
    : T extends object
      ? { readonly [K in keyof T]?: Expected<T[K]> | undefined }
      : T

/** One field that is not as expected. */
export interface Mismatch {
  /** As `status.conditions[0].type`; empty for the whole object. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

/**
 * Where `actual` is not as `expected`. Fields that are not expected do not count. Each element of an expected list needs an element of
 * its own in the actual list, in any order: lists of Kubernetes are maps and sets more often than not.
 */
export function findMismatches(expected: unknown, actual: unknown, path = ''): Mismatch[] {
  if (expected instanceof RegExp)
    return typeof actual === 'string' && expected.test(actual) ? [] : [{ path, expected, actual }]
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [{ path, expected, actual }]
    const owners = assign(expected, actual)
    return expected.flatMap((each, index) =>
      owners.includes(index) ? [] : [{ path: `${path}[${index}]`, expected: each, actual }],
    )
  }
  if (isRecord(expected)) {
    if (!isRecord(actual)) return [{ path, expected, actual }]
    return Object.entries(expected).flatMap(([name, each]) =>
      findMismatches(each, Object.hasOwn(actual, name) ? actual[name] : undefined, joinPath(path, name)),
    )
  }
  return Object.is(expected, actual) ? [] : [{ path, expected, actual }]
}

/** For each actual element the index of the expected one that it stands for: as many as possible (augmenting paths). */
function assign(expected: readonly unknown[], actual: readonly unknown[]): (number | undefined)[] {
  const owners: (number | undefined)[] = new Array(actual.length).fill(undefined)
  const candidates = expected.map(each =>
    actual.flatMap((other, index) => (findMismatches(each, other).length === 0 ? [index] : [])),
  )
  const place = (index: number, tried: Set<number>): boolean =>
    candidates[index]!.some(at => {
      if (tried.has(at)) return false
      tried.add(at)
      const owner = owners[at]
      if (owner !== undefined && !place(owner, tried)) return false
      owners[at] = index
      return true
    })
  for (const index of expected.keys()) place(index, new Set())
  return owners
}

/** The part of `actual` that `expected` is about, so that a test runner can show the two side by side. */
export function pickExpected(expected: unknown, actual: unknown): unknown {
  if (!isRecord(expected) || !isRecord(actual)) return actual
  return Object.fromEntries(
    Object.entries(expected)
      .filter(([name, each]) => each === undefined || Object.hasOwn(actual, name))
      .map(([name, each]) => [name, pickExpected(each, actual[name])]),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp)
}

function joinPath(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}
