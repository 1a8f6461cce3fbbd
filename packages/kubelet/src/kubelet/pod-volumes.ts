import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodIdentity } from '../container-runtime.ts'
import { needsRefresh, resolveVolumes, usesDownwardAPI } from './volumes.ts'
import type { WorkerContext } from './worker-context.ts'

/** How often the files of running Pods are refreshed. */
const refreshInterval = 60_000

/** The retry interval of volumes that fail to mount, and the longest interval between FailedMount events, which doubles as the kubelet's does. */
const retryDelay = 2_000
const longestReportInterval = 122_000

/** The volumes of one Pod: written before its containers start, and refreshed periodically. */
export class PodVolumes {
  readonly #context: WorkerContext
  readonly #identity: PodIdentity
  #arePrepared = false
  #reportInterval = retryDelay
  #reportAt = 0
  #problem = ''
  #refreshed = 0
  /** The labels and annotations that downward API files were written from. */
  #published = ''

  constructor(context: WorkerContext, identity: PodIdentity) {
    this.#context = context
    this.#identity = identity
  }

  get arePrepared(): boolean {
    return this.#arePrepared
  }

  /** The milliseconds after which to call `prepare` again for files that may have changed; undefined for none. */
  refreshAfter(pod: DeepReadonly<Pod>): number | undefined {
    return !this.#context.runtime.isSimulated && needsRefresh(pod) ? refreshInterval : undefined
  }

  /** The milliseconds after which to call `prepare` again after it returned false. */
  readonly retryAfter: number = retryDelay

  /** Writes volumes that are due. False when something they need is missing. */
  async prepare(pod: DeepReadonly<Pod>): Promise<boolean> {
    const { runtime, events, env, sourcesOf } = this.#context
    const now = env.clock.now()
    if (this.#arePrepared && runtime.isSimulated) return true
    const published = usesDownwardAPI(pod)
      ? JSON.stringify([pod.metadata.labels, pod.metadata.annotations])
      : ''
    if (this.#arePrepared && published === this.#published && now - this.#refreshed < refreshInterval)
      return true
    this.#published = published
    try {
      const volumes = await resolveVolumes(pod, sourcesOf(pod), runtime.isSimulated ?? false)
      await runtime.writeVolumes(this.#identity, volumes)
      this.#arePrepared = true
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (!this.#arePrepared && (message !== this.#problem || now >= this.#reportAt)) {
        events.warning(pod, 'FailedMount', message)
        this.#problem = message
        this.#reportAt = now + this.#reportInterval
        this.#reportInterval = Math.min(2 * this.#reportInterval, longestReportInterval)
      }
    }
    this.#refreshed = now
    return this.#arePrepared
  }
}
