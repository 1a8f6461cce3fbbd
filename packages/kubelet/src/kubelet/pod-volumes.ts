import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodIdentity } from '../container-runtime.ts'
import { needsRefresh, resolveVolumes, tellsOfItself } from './volumes.ts'
import type { WorkerContext } from './worker-context.ts'

/** How often files of running Pods are brought up to date. */
const refreshInterval = 60_000

/** Volumes that cannot be had are tried again after so long; people are told less and less often, as kubelets do. */
const retryDelay = 2_000
const longestSilence = 122_000

/** The volumes of one Pod: written before its containers start, and again now and then. */
export class PodVolumes {
  readonly #context: WorkerContext
  readonly #identity: PodIdentity
  #areThere = false
  #silence = retryDelay
  #tellAt = 0
  #problem = ''
  #refreshed = 0
  /** What files of the downward API were made of. */
  #told = ''

  constructor(context: WorkerContext, identity: PodIdentity) {
    this.#context = context
    this.#identity = identity
  }

  get areThere(): boolean {
    return this.#areThere
  }

  /** The milliseconds after which to call `prepare` again for files that may have changed; undefined for none. */
  refreshAfter(pod: DeepReadonly<Pod>): number | undefined {
    return !this.#context.runtime.isSimulated && needsRefresh(pod) ? refreshInterval : undefined
  }

  /** The milliseconds after which to call `prepare` again when it said false. */
  readonly retryAfter: number = retryDelay

  /** Writes what is due. False when something they need is not there. */
  async prepare(pod: DeepReadonly<Pod>): Promise<boolean> {
    const { runtime, events, env, sourcesOf } = this.#context
    const now = env.clock.now()
    if (this.#areThere && runtime.isSimulated) return true
    const told = tellsOfItself(pod) ? JSON.stringify([pod.metadata.labels, pod.metadata.annotations]) : ''
    if (this.#areThere && told === this.#told && now - this.#refreshed < refreshInterval) return true
    this.#told = told
    try {
      const volumes = await resolveVolumes(pod, sourcesOf(pod), runtime.isSimulated ?? false)
      await runtime.writeVolumes(this.#identity, volumes)
      this.#areThere = true
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (!this.#areThere && (message !== this.#problem || now >= this.#tellAt)) {
        events.warning(pod, 'FailedMount', message)
        this.#problem = message
        this.#tellAt = now + this.#silence
        this.#silence = Math.min(2 * this.#silence, longestSilence)
      }
    }
    this.#refreshed = now
    return this.#areThere
  }
}
