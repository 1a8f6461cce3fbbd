import type { EventRecorder, EventSource, EventSubject } from '../event-recorder.ts'

/** A recorder that remembers whether a Warning was recorded through it. */
export class WarningNotice implements EventRecorder {
  readonly #recorder: EventRecorder
  readonly #parent: WarningNotice | undefined
  hasWarned = false

  constructor(recorder: EventRecorder, parent?: WarningNotice) {
    this.#recorder = recorder
    this.#parent = parent
  }

  normal(subject: EventSubject, reason: string, message: string): void {
    this.#recorder.normal(subject, reason, message)
  }

  warning(subject: EventSubject, reason: string, message: string): void {
    this.#notice()
    this.#recorder.warning(subject, reason, message)
  }

  from(source: EventSource): EventRecorder {
    return new WarningNotice(this.#recorder.from(source), this)
  }

  withAction(action: string, related?: EventSubject): EventRecorder {
    return new WarningNotice(this.#recorder.withAction(action, related), this)
  }

  #notice(): void {
    this.hasWarned = true
    if (this.#parent) this.#parent.#notice()
  }
}
