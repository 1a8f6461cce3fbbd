import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Clock } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { ContainerRuntime } from '../container-runtime.ts'
import { BackOff } from './back-off.ts'
import { type ContainerRecord, partOf } from './container-record.ts'

export type PullResult =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly reason: string; readonly message: string; readonly retryAfter: number }

/** Pulls the images of one node by their pull policies, with the kubelet's events and back-off. */
export class ImagePuller {
  readonly #runtime: ContainerRuntime
  readonly #clock: Clock
  /** Images that are present, and their sizes in bytes. */
  readonly #present = new Map<string, number>()
  readonly #backOff = new BackOff()
  /** When a pull last failed, and why. */
  readonly #failures = new Map<string, { readonly at: number; readonly message: string }>()

  constructor(runtime: ContainerRuntime, clock: Clock) {
    this.#runtime = runtime
    this.#clock = clock
  }

  /** The images on the node, with sizes in bytes. */
  get present(): ReadonlyMap<string, number> {
    return this.#present
  }

  /** Rejects when `signal` aborts. */
  async pull(
    pod: DeepReadonly<Pod>,
    { container, role }: Pick<ContainerRecord, 'container' | 'role'>,
    events: EventRecorder,
    signal: AbortSignal,
  ): Promise<PullResult> {
    const subject = partOf(pod, { container, role })
    const { image = '', imagePullPolicy: policy = 'IfNotPresent' } = container
    const quoted = JSON.stringify(image)
    const now = this.#clock.now()
    const key = `${pod.metadata.uid}_${image}`
    if (policy === 'Never' || (policy !== 'Always' && this.#present.has(image))) {
      const found = await this.#runtime.findImage(image)
      if (found.found) {
        this.#present.set(image, found.sizeBytes ?? 0)
        const text = `Container image ${quoted} already present on machine and can be accessed by the pod`
        events.normal(subject, 'Pulled', text)
        return { ok: true, id: found.id }
      }
    }
    if (policy === 'Never') {
      const message = `Container image ${quoted} is not present with pull policy of Never`
      events.warning(subject, 'ErrImageNeverPull', message)
      events.warning(subject, 'Failed', 'Error: ErrImageNeverPull')
      return { ok: false, reason: 'ErrImageNeverPull', message, retryAfter: 10_000 }
    }
    const failure = this.#failures.get(key)
    const delay = failure && this.#backOff.current(key, failure.at, now)
    if (failure && delay !== undefined) {
      events.normal(subject, 'BackOff', `Back-off pulling image ${quoted}`)
      events.warning(subject, 'Failed', 'Error: ImagePullBackOff')
      const message = `Back-off pulling image ${quoted}: ErrImagePull: ${failure.message}`
      return { ok: false, reason: 'ImagePullBackOff', message, retryAfter: failure.at + delay - now }
    }
    events.normal(subject, 'Pulling', `Pulling image ${quoted}`)
    // An image that is present is only looked up again.
    const isNew = !this.#present.has(image)
    const pulled = isNew ? await this.#runtime.pullImage?.(image, signal) : undefined
    const found = pulled ?? (await this.#runtime.findImage(image))
    if (!found.found) {
      this.#backOff.next(key, now)
      this.#failures.set(key, { at: this.#clock.now(), message: found.message })
      events.warning(subject, 'Failed', `Failed to pull image ${quoted}: ${found.message}`)
      events.warning(subject, 'Failed', 'Error: ErrImagePull')
      return { ok: false, reason: 'ErrImagePull', message: found.message, retryAfter: 1_000 }
    }
    const { sizeBytes = 0 } = found
    this.#present.set(image, sizeBytes)
    this.#failures.delete(key)
    const took = `${Math.max(1, Math.round(this.#clock.now() - now))}ms`
    const text = `Successfully pulled image ${quoted} in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`
    events.normal(subject, 'Pulled', text)
    return { ok: true, id: found.id }
  }

  /** Forgets the failed pulls of a Pod that is deleted. */
  forget(pod: DeepReadonly<Pod>): void {
    if (this.#failures.size === 0) return
    for (const { image = '' } of [...(pod.spec.initContainers ?? []), ...pod.spec.containers])
      this.#failures.delete(`${pod.metadata.uid}_${image}`)
  }
}
