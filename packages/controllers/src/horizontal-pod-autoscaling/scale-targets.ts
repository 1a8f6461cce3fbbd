import type { Scale } from '@coxswain/api/autoscaling/v1'
import type { HorizontalPodAutoscaler } from '@coxswain/api/autoscaling/v2'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isConflict, newNotFound } from '@coxswain/apimachinery/status'
import { type Client, createDiscovery, type DynamicKind } from '@coxswain/client'

export type ScaleView = DeepReadonly<Scale>
type AutoscalerView = DeepReadonly<HorizontalPodAutoscaler>

const attempts = 5

/** Reads and writes the `scale` of objects of any kind. */
export class ScaleTargets {
  /** Resolved kinds, which do not change. */
  readonly #kinds = new Map<string, DynamicKind>()

  /** @throws StatusError 404 when the target is not there, or cannot be scaled */
  async read(client: Client, autoscaler: AutoscalerView): Promise<ScaleView> {
    const { apiVersion = 'v1', kind, name } = autoscaler.spec.scaleTargetRef
    const handle = await this.#find(client, apiVersion, kind)
    const { namespace = '' } = autoscaler.metadata
    const scale = await client.subresource(handle, { namespace, name }, 'scale').get<Scale>()
    if (!scale) throw newNotFound({ group: handle.group, resource: handle.resource }, name)
    return scale
  }

  /** Retries conflicts: another client's write is kept, except for the replicas. */
  async write(client: Client, autoscaler: AutoscalerView, scale: ScaleView, replicas: number): Promise<void> {
    const { apiVersion = 'v1', kind, name } = autoscaler.spec.scaleTargetRef
    const handle = await this.#find(client, apiVersion, kind)
    const { namespace = '' } = autoscaler.metadata
    const subresource = client.subresource(handle, { namespace, name }, 'scale')
    let current: ScaleView = scale
    for (let attempt = 1; ; attempt++) {
      try {
        await subresource.update({ ...current, spec: { replicas } })
        return
      } catch (error) {
        if (!isConflict(error) || attempt === attempts) throw error
        current = (await subresource.get<Scale>()) ?? current
      }
    }
  }

  /** As in the custom metrics API: `services`, `deployments.apps`. */
  async resourceOf(client: Client, apiVersion: string, kind: string): Promise<string> {
    const { group, resource } = await this.#find(client, apiVersion, kind)
    return group === '' ? resource : `${resource}.${group}`
  }

  async #find(client: Client, apiVersion: string, kind: string): Promise<DynamicKind> {
    const id = `${apiVersion} ${kind}`
    const known = this.#kinds.get(id) ?? (await createDiscovery(client).kindOf(apiVersion, kind))
    this.#kinds.set(id, known)
    return known
  }
}
