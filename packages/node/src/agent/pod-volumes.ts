import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery'
import type { PodIdentity } from '../container-runtime.ts'
import { needsRefresh, resolveVolumes } from './volumes.ts'
import type { WorkerContext } from './worker-context.ts'

/** How often files of running Pods are brought up to date. */
const refreshInterval = 60_000

/** The volumes of one Pod: written before its containers start, and again now and then. */
export class PodVolumes {
  readonly #context: WorkerContext
  readonly #identity: PodIdentity
  #areThere = false
  #refreshed = 0

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

  /** Writes what is due. False when something they need is not there. */
  async prepare(pod: DeepReadonly<Pod>): Promise<boolean> {
    const { runtime, events, env, sourcesOf } = this.#context
    const now = env.clock.now()
    if (this.#areThere && (runtime.isSimulated || now - this.#refreshed < refreshInterval)) return true
    try {
      const volumes = await resolveVolumes(pod, sourcesOf(pod), runtime.isSimulated ?? false)
      await runtime.writeVolumes(this.#identity, volumes)
      this.#areThere = true
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (!this.#areThere) events.warning(pod, 'FailedMount', message)
    }
    this.#refreshed = now
    return this.#areThere
  }
}
