import { type Entry, EntryList } from './entry.ts'

/** Chooses the next of the ready entries. */
export interface Order<T> {
  push(entry: Entry<T>): void
  /** The priority of a ready entry has changed. */
  raise(entry: Entry<T>): void
  /** Removes and returns the next entry. */
  pop(): Entry<T> | undefined
}

/** In the order of arrival, whatever the priority. */
export function createFifoOrder<T>(): Order<T> {
  const list = new EntryList<T>()
  return {
    push: entry => list.push(entry),
    raise: () => {},
    pop: () => {
      const entry = list.first
      if (entry) list.remove(entry)
      return entry
    },
  }
}

/** One in this many is taken from the lowest priority, so that urgent work delays the rest but cannot starve it. */
const lowestTurn = 16

/** Highest priority first; in the order of arrival within a priority. */
export function createPriorityOrder<T>(): Order<T> {
  const lists = new Map<number, EntryList<T>>()
  /** The keys of `lists`, highest first. Empty lists stay: there are few priorities. */
  const priorities: number[] = []
  let turn = 0

  const push = (entry: Entry<T>): void => {
    let list = lists.get(entry.priority)
    if (!list) {
      list = new EntryList()
      lists.set(entry.priority, list)
      priorities.push(entry.priority)
      priorities.sort((a, b) => b - a)
    }
    list.push(entry)
  }
  const take = (priority: number): Entry<T> | undefined => {
    const list = lists.get(priority)!
    const entry = list.first
    if (entry) list.remove(entry)
    return entry
  }
  return {
    push,
    raise: entry => {
      entry.list?.remove(entry)
      push(entry)
    },
    pop: () => {
      turn = (turn + 1) % lowestTurn
      const fromLowest = turn === 0
      for (let i = 0; i < priorities.length; i++) {
        const entry = take(priorities[fromLowest ? priorities.length - 1 - i : i]!)
        if (entry) return entry
      }
      return undefined
    },
  }
}

/** Flows take turns, one item each; in the order of arrival within a flow. */
export function createFairOrder<T>(flowOf: (item: T) => string): Order<T> {
  /** Flows with something ready, in the order of their turns. */
  const flows = new Map<string, EntryList<T>>()
  return {
    push: entry => {
      const flow = flowOf(entry.item)
      let list = flows.get(flow)
      if (!list) {
        list = new EntryList()
        flows.set(flow, list)
      }
      list.push(entry)
    },
    raise: () => {},
    pop: () => {
      for (const [flow, list] of flows) {
        const entry = list.first!
        list.remove(entry)
        flows.delete(flow)
        if (list.first) flows.set(flow, list)
        return entry
      }
      return undefined
    },
  }
}
