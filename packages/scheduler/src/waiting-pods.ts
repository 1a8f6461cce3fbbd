import type { Clock } from '@coxswain/kit'
import type { Verdict } from './plugin.ts'

/** The upper limit of a wait, in milliseconds. */
const longestWait = 15 * 60_000

/** In Go's format: `1m30s`, `500ms`. */
function formatDuration(ms: number): string {
  if (ms < 1_000) return `${ms}ms`
  const minutes = Math.floor(ms / 60_000)
  const seconds = `${(ms % 60_000) / 1_000}s`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/** How long a plug-in makes a pod wait. */
export interface PermitWait {
  readonly ms: number
  readonly plugin: string
}

/** Pods that wait for the permission of permit plug-ins to be bound. */
export class WaitingPods {
  readonly #clock: Clock
  readonly #waiting = new Map<string, (verdict: Verdict | undefined) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with undefined when the pod is allowed, or with a verdict when it is rejected or the shortest wait times out. */
  wait(uid: string, waits: readonly PermitWait[]): Promise<Verdict | undefined> {
    const { ms, plugin } = waits.reduce((shortest, wait) => (wait.ms < shortest.ms ? wait : shortest))
    const limit = Math.min(ms, longestWait)
    return new Promise(resolve => {
      const text = `rejected due to timeout after waiting ${formatDuration(limit)} at plugin ${plugin}`
      const timer = this.#clock.after(limit, () => this.reject(uid, text, plugin))
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

  /** Returns whether it was waiting. `plugin` is the one that rejects it. */
  reject(uid: string, reason: string, plugin?: string): boolean {
    const answer = this.#waiting.get(uid)
    answer?.({ code: 'Unschedulable', reasons: [reason], ...(plugin !== undefined && { plugin }) })
    return answer !== undefined
  }

  /** Returns whether it was waiting. It may be retried at once. */
  preempt(uid: string): boolean {
    const answer = this.#waiting.get(uid)
    answer?.({ code: 'Error', reasons: ['waiting on permit for pod: preempted'] })
    return answer !== undefined
  }
}
