import { EVENT_ID, type Event, getScalarValue } from 'js-yaml'

/** The maximum number of reported duplicate keys. */
const limit = 100

interface Collection {
  /** Keys so far; absent for a sequence. */
  readonly keys?: Set<string>
  /** The key whose value comes next, unless it is not a scalar. */
  key: string | undefined
  expectsKey: boolean
  /** Where the value of a duplicate key begins. */
  repeatedAt: number
}

/**
 * The messages of goyaml's strict decoder about duplicate keys of a mapping, one line each: `line 9: key "foo" already set in
 * map`. The line is that of the value; what is inside a value comes before it.
 */
export function findDuplicateKeys(source: string, events: readonly Event[]): string[] {
  const lines: string[] = []
  const lineOf = createLineIndex(source)
  const open: Collection[] = []

  const begin = (at: number, text: string | undefined): void => {
    const parent = open.at(-1)
    if (!parent?.keys) return
    if (parent.expectsKey) {
      parent.key = text
      return
    }
    const { key, keys } = parent
    if (key === undefined || key === '<<') return
    parent.repeatedAt = keys.has(key) ? at : -1
    keys.add(key)
  }
  const end = (): void => {
    const parent = open.at(-1)
    if (!parent?.keys) return
    if (!parent.expectsKey && parent.repeatedAt >= 0) {
      if (lines.length < limit)
        lines.push(`line ${lineOf(parent.repeatedAt)}: key ${JSON.stringify(parent.key)} already set in map`)
      parent.repeatedAt = -1
    }
    parent.expectsKey = !parent.expectsKey
  }

  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        begin(Math.max(event.valueStart, 0), getScalarValue(source, event))
        end()
        break
      case EVENT_ID.ALIAS:
        begin(event.anchorStart, undefined)
        end()
        break
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE:
        begin(event.start, undefined)
        open.push({
          ...(event.type === EVENT_ID.MAPPING && { keys: new Set() }),
          key: undefined,
          expectsKey: true,
          repeatedAt: -1,
        })
        break
      case EVENT_ID.DOCUMENT:
        open.push({ key: undefined, expectsKey: true, repeatedAt: -1 })
        break
      case EVENT_ID.POP:
        open.pop()
        end()
        break
    }
  }
  return lines
}

/** The number of the line, from 1, that a position is in. */
function createLineIndex(source: string): (position: number) => number {
  const ends: number[] = []
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) ends.push(at)
  return position => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! < position) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
