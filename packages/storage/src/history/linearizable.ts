/** An operation between its call and its return, in the order of one shared counter. */
export interface Interval<Op> {
  readonly op: Op
  readonly call: number
  /** Infinity when the outcome is unknown: it may have happened at any time since, or never. */
  readonly return: number
}

/** A sequential specification. States are immutable; equal states have equal keys. */
export interface Model<Op, State> {
  readonly initial: State
  /** The state after `op`, or undefined when its result is impossible in `state`. */
  step(state: State, op: Op): State | undefined
  key(state: State): string
}

export type Verdict<Op> =
  | { readonly linearizable: true; readonly order: readonly Op[] }
  /** `stuck` are the operations none of which could come next, at the furthest point of the search. */
  | { readonly linearizable: false; readonly explained: readonly Op[]; readonly stuck: readonly Op[] }

/**
 * Whether there is an order of the operations, each between its call and its return, in which the model gives exactly
 * their results. Wing and Gong's search, caching which sets of operations led to which states (Lowe).
 */
export function checkLinearizable<Op, State>(
  history: readonly Interval<Op>[],
  model: Model<Op, State>,
): Verdict<Op> {
  const all = history.toSorted((a, b) => a.call - b.call)
  const done = new Uint8Array(all.length)
  const order: number[] = []
  const states: State[] = [model.initial]
  const visited = new Set<string>()
  /** Where the search continues at each depth. */
  const cursors: number[] = [0]
  let best: readonly number[] = []
  let stuck: readonly number[] = []

  for (;;) {
    const depth = order.length
    const state = states[depth]!
    const candidates = findCandidates(all, done)
    if (!candidates.some(index => all[index]!.return !== Number.POSITIVE_INFINITY)) {
      return { linearizable: true, order: order.map(index => all[index]!.op) }
    }
    if (depth >= best.length) {
      best = [...order]
      stuck = candidates
    }
    let advanced = false
    for (let cursor = cursors[depth]!; cursor < candidates.length; cursor++) {
      const index = candidates[cursor]!
      const next = model.step(state, all[index]!.op)
      if (next === undefined) continue
      done[index] = 1
      const seen = `${bits(done)} ${model.key(next)}`
      if (visited.has(seen)) {
        done[index] = 0
        continue
      }
      visited.add(seen)
      cursors[depth] = cursor + 1
      cursors.push(0)
      states.push(next)
      order.push(index)
      advanced = true
      break
    }
    if (advanced) continue
    if (depth === 0) {
      const opsOf = (indices: readonly number[]) => indices.map(index => all[index]!.op)
      return { linearizable: false, explained: opsOf(best), stuck: opsOf(stuck) }
    }
    cursors.pop()
    states.pop()
    done[order.pop()!] = 0
  }
}

/** Operations that may come next: no other one returned before they were called. */
function findCandidates<Op>(all: readonly Interval<Op>[], done: Uint8Array): number[] {
  let earliestReturn = Number.POSITIVE_INFINITY
  for (const [index, each] of all.entries()) {
    if (done[index]) continue
    if (each.call > earliestReturn) break
    if (each.return < earliestReturn) earliestReturn = each.return
  }
  const candidates: number[] = []
  for (const [index, each] of all.entries()) {
    if (each.call > earliestReturn) break
    if (!done[index]) candidates.push(index)
  }
  return candidates
}

/** The set of completed operations in a compact form: everything before the first incomplete one is left out. */
function bits(done: Uint8Array): string {
  const first = done.indexOf(0)
  if (first < 0) return 'all'
  return `${first}:${done.subarray(first, done.lastIndexOf(1) + 1).join('')}`
}
