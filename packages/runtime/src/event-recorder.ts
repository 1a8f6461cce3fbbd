import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery'

/** What an event is about. */
export type EventSubject = Pick<DeepReadonly<ApiObject>, 'apiVersion' | 'kind' | 'metadata'>

/** Who tells of an event: `kubectl describe` shows it under `From`. */
export interface EventSource {
  readonly component: string
  /** The node, for what is told by one. */
  readonly host?: string
}

/**
 * Tells people what happened to an object (`kubectl describe`, `kubectl get events`). Calls return at once; events that
 * repeat are counted up, and a flood is cut off.
 */
export interface EventRecorder {
  /** `reason` is one word in CamelCase for machines, `message` a sentence for people. */
  normal(subject: EventSubject, reason: string, message: string): void
  warning(subject: EventSubject, reason: string, message: string): void
  /** The same for events that somebody else tells of. */
  from(source: EventSource): EventRecorder
}
