import { isOlder } from './resource-version.ts'

/** The state of a reflector. */
export type ReflectorState = ListingState | StreamingState | WatchingState

interface Memory {
  /** The resourceVersion that the store reflects: of the last list, event or bookmark. Undefined before the first. */
  readonly known: string | undefined
  /** Whether to use a watch-list. False once the server has shown that it does not support them. */
  readonly watchList: boolean
  /** Consecutive watches without events. */
  readonly failures: number
}

/** Listing the current state page by page. */
export interface ListingState extends Memory {
  readonly phase: 'listing'
  /** `'0'`: from the server's cache. `''`: the latest. Otherwise: not older than this. */
  readonly from: string
}

/** Getting the current state as the beginning of a watch. */
export interface StreamingState extends Memory {
  readonly phase: 'streaming'
  readonly from: string
}

/** The store reflects `known`; later events are applied as they arrive. */
export interface WatchingState extends Memory {
  readonly phase: 'watching'
  readonly known: string
}

/** How a phase ended. */
export type Outcome =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  /** The server ended the watch, as it does from time to time. */
  | { readonly type: 'ended'; readonly lasted: number }
  /** No event for longer than a healthy watch is silent. */
  | { readonly type: 'quiet' }
  | { readonly type: 'failed'; readonly failure: Failure }

/**
 * `expired`: the requested history is compacted (410). `ahead`: the server has not reached the requested resourceVersion.
 * `unsupported`: the server does not support watch-lists. `absent`: it does not serve the resource (404). `other`: anything else,
 * including the network.
 */
export type Failure = 'expired' | 'ahead' | 'unsupported' | 'absent' | 'other'

/** The next state of a reflector. */
export interface Transition {
  readonly state: ReflectorState
  /** Whether to back off first. */
  readonly pause: boolean
}

/** A watch that ends sooner than this has failed, whatever it sent. */
const shortWatch = 1_000
/** After this many consecutive watches without events, the state is listed again. */
const patience = 3

export function initialState(watchList: boolean): ReflectorState {
  const memory = { known: undefined, watchList, failures: 0 }
  return watchList ? { ...memory, phase: 'streaming', from: '' } : { ...memory, phase: 'listing', from: '0' }
}

/** The state after the phase of `state` has ended with `outcome`. Never stops: the caller decides that. */
export function transition(state: ReflectorState, outcome: Outcome): Transition {
  switch (state.phase) {
    case 'listing':
      return afterListing(state, outcome)
    case 'streaming':
      return afterStreaming(state, outcome)
    case 'watching':
      return afterWatching(state, outcome)
  }
}

function afterListing(state: ListingState, outcome: Outcome): Transition {
  if (outcome.type === 'listed') {
    const { watchList } = state
    return {
      state: { phase: 'watching', known: outcome.resourceVersion, watchList, failures: 0 },
      pause: false,
    }
  }
  return { state: { ...state, from: isLost(outcome) ? '' : state.from }, pause: true }
}

function afterStreaming(state: StreamingState, outcome: Outcome): Transition {
  const unsupported = outcome.type === 'failed' && outcome.failure === 'unsupported'
  // A server that ignores unknown parameters answers with an ordinary watch, which never signals that it is complete.
  if (unsupported || outcome.type === 'quiet' || state.failures + 1 >= patience) {
    const { known } = state
    const watchList = !(unsupported || outcome.type === 'quiet')
    return {
      state: { phase: 'listing', known, watchList, failures: 0, from: known ?? '0' },
      pause: !unsupported,
    }
  }
  const from = isLost(outcome) ? '' : state.from
  return { state: { ...state, from, failures: state.failures + 1 }, pause: true }
}

function afterWatching(state: WatchingState, outcome: Outcome): Transition {
  if (outcome.type === 'ended' && outcome.lasted >= shortWatch) return { state, pause: false }
  if (outcome.type === 'failed' && outcome.failure === 'ahead') return relist(state, '')
  if (outcome.type === 'failed' && outcome.failure === 'expired') return relist(state, state.known)
  const failures = state.failures + 1
  if (outcome.type === 'quiet' || failures >= patience) return relist(state, state.known)
  return { state: { ...state, failures }, pause: true }
}

function relist(state: WatchingState, from: string): Transition {
  const phase = state.watchList ? 'streaming' : 'listing'
  return { state: { ...state, phase, from, failures: 0 }, pause: true }
}

function isLost(outcome: Outcome): boolean {
  return outcome.type === 'failed' && (outcome.failure === 'expired' || outcome.failure === 'ahead')
}

/**
 * Whether a list that must not be older than `from` is older all the same: the server lags behind, and its response would take
 * the store back in time.
 */
export function isStaleAnswer(from: string, resourceVersion: string): boolean {
  return from !== '' && from !== '0' && isOlder(resourceVersion, from)
}
