import type { GoldenRequest, Query, Step } from './case.ts'

/** Recorded writes and the watches that saw them, on kube-apiserver 1.36.4. */
export interface Scenario {
  readonly id: string
  readonly about: string
  readonly keep?: readonly string[]
  /** Says what may differ: periodic bookmarks come when they come. */
  readonly tolerant?: string
  /** No relations of unknown versions: the server itself writes in between. */
  readonly loose?: boolean
  /** Only types and names of events are compared. */
  readonly unstable?: boolean
  readonly steps: readonly ScenarioStep[]
  /** One a step. */
  readonly answers: readonly StepAnswer[]
  readonly watches: Readonly<Record<string, WatchRecord>>
}

export type ScenarioStep =
  | WatchStep
  | WaitStep
  | CheckStep
  | TogetherStep
  | SameStep
  | PauseStep
  | RequestStep

/** Opens a stream under a name. */
export interface WatchStep extends Omit<GoldenRequest, 'method'> {
  readonly watch: string
  /** @default GET */
  readonly method?: string
  readonly websocket?: boolean
  /** Ignores events of objects outside of the scenario. */
  readonly mine?: boolean
  /** Compares events in any order. */
  readonly unordered?: boolean
}

export interface WaitStep {
  readonly wait: string
  readonly closed?: boolean
  readonly events?: number
  readonly bookmark?: boolean
  readonly object?: string
  readonly type?: string
  /** Seconds. */
  readonly within?: number
}

/** Two saved versions and their relation. */
export interface CheckStep {
  readonly check: readonly [string, '<' | '<=' | '==' | '>=' | '>' | '!=', string]
}

/** Writes at the same time. */
export interface TogetherStep {
  readonly together: readonly Step[]
}

/** These watches saw the same events, in the order of their versions. */
export interface SameStep {
  readonly same: readonly string[]
}

export interface PauseStep {
  readonly pause: number
  readonly method?: undefined
}

export interface RequestStep extends Omit<Step, 'pause'> {
  /** Whether the body of the answer is compared. */
  readonly show?: boolean
}

export interface StepAnswer {
  readonly status?: number
  readonly body?: unknown
  readonly true?: boolean
  readonly statuses?: readonly number[]
  readonly timeout?: boolean
}

export interface WatchRecord {
  readonly status: number
  readonly contentType: string
  readonly transfer: Transfer
  /** Instead of events, when the answer is no stream. */
  readonly body?: unknown
  readonly events?: readonly WatchedEvent[]
  readonly end?: 'server' | 'open' | 'broken'
  /** How long a stream with `timeoutSeconds` lasted. */
  readonly seconds?: number
  readonly bookmarks?: { readonly atLeast: number; readonly like: WatchedEvent }
}

export type Transfer = 'chunked' | 'length' | 'websocket' | 'other'

export interface WatchedEvent {
  readonly type?: string
  readonly object?: unknown
  /** Of a websocket: the kind of frame it came in. */
  readonly frame?: string
  /** How its version lies to those of the writes. */
  readonly rv?: string
}

/** What a server did in a scenario, in the form of the recording. */
export type Played = Pick<Scenario, 'answers' | 'watches'>

export const query = (step: WatchStep, name: string): string => String((step.query as Query)?.[name] ?? '')
