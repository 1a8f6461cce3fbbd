import type { Clock } from '@coxswain/kit'
import type { Verdict } from './plugin.ts'

/** Where pods wait for somebody's permission to be bound. */
export class PermitRoom {
  readonly #clock: Clock
  readonly #waiting = new Map<string, (verdict: Verdict | undefined) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with nothing when the pod is allowed, with a verdict when it is rejected or `ms` milliseconds are over. */
  enter(uid: string, ms: number): Promise<Verdict | undefined> {
    return new Promise(resolve => {
      const timer = this.#clock.after(ms, () => this.reject(uid, 'rejected due to timeout after waiting'))
      this.#waiting.set(uid, verdict => {
        timer.cancel()
        this.#waiting.delete(uid)
        resolve(verdict)
      })
    })
  }

  allow(uid: string): void {
    this.#waiting.get(uid)?.(undefined)
  }

  reject(uid: string, reason: string): void {
    this.#waiting.get(uid)?.({ code: 'Unschedulable', reasons: [reason] })
  }
}
