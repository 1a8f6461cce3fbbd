import { isOlder } from './resource-version.ts'

/** What a reflector is doing, and all it remembers. */
export type ReflectorState = ListingState | StreamingState | WatchingState

interface Memory {
  /** The resourceVersion the store reflects: of the last list, event or bookmark. Undefined before the first. */
  readonly known: string | undefined
  /** Whether to ask for the present state through a watch. False once the server has shown that it does not know how. */
  readonly watchList: boolean
  /** Watches in a row that brought nothing. */
  readonly failures: number
}

/** Getting the present state page by page. */
export interface ListingState extends Memory {
  readonly phase: 'listing'
  /** `'0'`: whatever the server has. `''`: the most recent. Otherwise: not older than this. */
  readonly from: string
}

/** Getting the present state as the beginning of a watch. */
export interface StreamingState extends Memory {
  readonly phase: 'streaming'
  readonly from: string
}

/** The store is up to `known`; events that follow are applied as they come. */
export interface WatchingState extends Memory {
  readonly phase: 'watching'
  readonly known: string
}

/** How a phase ended. */
export type Outcome =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  /** The server ended the watch, as it does from time to time. */
  | { readonly type: 'ended'; readonly lasted: number }
  /** Nothing was heard for longer than a healthy watch is silent. */
  | { readonly type: 'quiet' }
  | { readonly type: 'failed'; readonly failure: Failure }

/**
 * `expired`: the history asked for is compacted (410). `ahead`: the server has not come to the resourceVersion asked
 * for. `unsupported`: the server does not know watch-lists. `absent`: it does not serve the resource (404). `other`: anything else, the network included.
 */
export type Failure = 'expired' | 'ahead' | 'unsupported' | 'absent' | 'other'

export interface Transition {
  readonly state: ReflectorState
  /** Whether to wait first, longer each time. */
  readonly pause: boolean
}

/** A watch that ends sooner than this has failed, whatever it brought. */
const shortWatch = 1_000
/** After so many watches in a row that brought nothing, the state is fetched anew. */
const patience = 3

export function initialState(watchList: boolean): ReflectorState {
  const memory = { known: undefined, watchList, failures: 0 }
  return watchList ? { ...memory, phase: 'streaming', from: '' } : { ...memory, phase: 'listing', from: '0' }
}

/** What follows when the phase that `state` describes has ended with `outcome`. Never stops: the caller decides that. */
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
  // A server that ignores what it does not know answers with an ordinary watch, which never says that it is complete.
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
 * Whether a list that was asked to be not older than `from` is older all the same: a server that lags behind, and whose
 * answer would take the store back in time.
 */
export function isStaleAnswer(from: string, resourceVersion: string): boolean {
  return from !== '' && from !== '0' && isOlder(resourceVersion, from)
}
