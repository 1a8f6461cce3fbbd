import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'

/** What an event is about. */
export type EventSubject = Pick<DeepReadonly<ApiObject>, 'apiVersion' | 'kind' | 'metadata'> & {
  /** The part of it, as in `spec.containers{NAME}`. @default all of it */
  readonly fieldPath?: string
}

/** The source of an event: `kubectl describe` shows it under `From`. */
export interface EventSource {
  readonly component: string
  /** The node, for events of node components. */
  readonly host?: string
}

/**
 * Records what happened to an object, for `kubectl describe` and `kubectl get events`. Calls return at once; events that
 * repeat are counted, and a flood is dropped.
 */
export interface EventRecorder {
  /** `reason` is one word in CamelCase for machines, `message` a sentence for people. */
  normal(subject: EventSubject, reason: string, message: string): void
  warning(subject: EventSubject, reason: string, message: string): void
  /** A recorder for events of another source. */
  from(source: EventSource): EventRecorder
  /**
   * A recorder for the newer API, events.k8s.io/v1: with the action (`Binding`), one word in CamelCase, and a
   * related object. Repeated events become a series.
   */
  withAction(action: string, related?: EventSubject): EventRecorder
}
