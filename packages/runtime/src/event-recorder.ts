import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'

/** What an event is about. */
export type EventSubject = Pick<DeepReadonly<ApiObject>, 'apiVersion' | 'kind' | 'metadata'> & {
  /** The part of it, as in `spec.containers{NAME}`. @default all of it */
  readonly fieldPath?: string
}

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
  /**
   * The same in the newer form, events.k8s.io/v1: says what was being done (`Binding`), one word in CamelCase, and which
   * other object had to do with it. What repeats becomes a series.
   */
  withAction(action: string, related?: EventSubject): EventRecorder
}
