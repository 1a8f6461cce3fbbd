import type { JsonObject } from '@coxswain/apimachinery/json'
import type { CacheEvent } from '../../cache/resource-cache.ts'
import type { StoredObject } from '../../cache/stored-object.ts'
import type { WatchCache } from '../../cache/watch-cache.ts'
import { findPodReferences, findVolumeSecrets, type PodReferences } from './references.ts'

export type NodeVertex = keyof PodReferences | 'pod' | 'pv' | 'volumeattachment' | 'resourceslice'

/** What one Pod makes accessible to its node. */
interface PodEdges {
  readonly node: string
  /** `KIND/NAMESPACE/NAME`. */
  readonly targets: readonly string[]
}

interface Volume {
  /** `pvc/NAMESPACE/NAME`. */
  readonly claim: string
  /** `NAMESPACE/NAME`. */
  readonly secrets: readonly string[]
}

const mirrorAnnotation = 'kubernetes.io/config.mirror'

/**
 * Which objects are related to a node: those that its Pods refer to, the volumes of their claims, the Secrets of those
 * volumes, and objects that name the node itself. Follows the watch cache.
 */
export class NodeGraph {
  readonly #pods = new Map<string, PodEdges>()
  /** By node: how many of its Pods refer to each target. */
  readonly #targets = new Map<string, Map<string, number>>()
  readonly #volumes = new Map<string, Volume>()
  /** By `NAMESPACE/NAME` of a Secret: the names of the volumes that need it. */
  readonly #volumesOfSecret = new Map<string, Set<string>>()
  /** By `KIND/NAME`: the node that an object names. */
  readonly #named = new Map<string, string>()

  constructor(cache: WatchCache) {
    const follow = (
      prefix: string,
      put: (object: StoredObject) => void,
      remove: (object: StoredObject) => void,
    ) => {
      const resource = cache.resource(prefix)
      const onEvent = ({ type, object }: CacheEvent) => (type === 'DELETED' ? remove(object) : put(object))
      resource.addWatcher({ namespace: '', onEvent, onEnd: () => {} })
      for (const object of resource.list()) put(object)
    }
    follow(
      '/core/pods/',
      pod => this.#addPod(pod),
      pod => this.#removePod(pod.key),
    )
    follow(
      '/core/persistentvolumes/',
      pv => this.#addVolume(pv),
      pv => this.#removeVolume(pv.name),
    )
    for (const [kind, prefix] of [
      ['volumeattachment', '/storage.k8s.io/volumeattachments/'],
      ['resourceslice', '/resource.k8s.io/resourceslices/'],
    ] as const)
      follow(
        prefix,
        object => this.#setNode(`${kind}/${object.name}`, object.parse()),
        object => this.#named.delete(`${kind}/${object.name}`),
      )
  }

  /** Whether the object is related to the node. */
  connects(node: string, kind: NodeVertex, namespace: string, name: string): boolean {
    if (kind === 'volumeattachment' || kind === 'resourceslice')
      return this.#named.get(`${kind}/${name}`) === node
    const targets = this.#targets.get(node)
    if (!targets) return false
    if (kind === 'pv') {
      const volume = this.#volumes.get(name)
      return volume !== undefined && targets.has(volume.claim)
    }
    if (targets.has(`${kind}/${namespace}/${name}`)) return true
    if (kind !== 'secret') return false
    for (const volume of this.#volumesOfSecret.get(`${namespace}/${name}`) ?? [])
      if (targets.has(this.#volumes.get(volume)!.claim)) return true
    return false
  }

  #addPod(stored: StoredObject): void {
    this.#removePod(stored.key)
    const pod = stored.parse()
    const { nodeName: node } = pod.spec as { readonly nodeName?: string }
    if (!node) return
    const { annotations = {} } = pod.metadata as { readonly annotations?: JsonObject }
    const targets = [`pod/${stored.namespace}/${stored.name}`]
    // A node may create mirror Pods: they must not grant it access to anything.
    if (!Object.hasOwn(annotations, mirrorAnnotation))
      for (const [kind, names] of Object.entries(findPodReferences(pod)))
        for (const name of names as ReadonlySet<string>) targets.push(`${kind}/${stored.namespace}/${name}`)
    this.#pods.set(stored.key, { node, targets })
    let counts = this.#targets.get(node)
    if (!counts) {
      counts = new Map()
      this.#targets.set(node, counts)
    }
    for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1)
  }

  #removePod(key: string): void {
    const pod = this.#pods.get(key)
    if (!pod) return
    this.#pods.delete(key)
    const counts = this.#targets.get(pod.node)!
    for (const target of pod.targets) {
      const left = counts.get(target)! - 1
      if (left === 0) counts.delete(target)
      else counts.set(target, left)
    }
    if (counts.size === 0) this.#targets.delete(pod.node)
  }

  #addVolume(stored: StoredObject): void {
    this.#removeVolume(stored.name)
    const volume = stored.parse()
    const { claimRef } = volume.spec as { readonly claimRef?: { namespace?: string; name?: string } }
    if (!claimRef) return
    const secrets = findVolumeSecrets(volume)
    this.#volumes.set(stored.name, { claim: `pvc/${claimRef.namespace}/${claimRef.name}`, secrets })
    for (const secret of secrets) {
      const volumes = this.#volumesOfSecret.get(secret) ?? new Set()
      this.#volumesOfSecret.set(secret, volumes.add(stored.name))
    }
  }

  #removeVolume(name: string): void {
    const volume = this.#volumes.get(name)
    if (!volume) return
    this.#volumes.delete(name)
    for (const secret of volume.secrets) {
      const volumes = this.#volumesOfSecret.get(secret)
      volumes?.delete(name)
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret)
    }
  }

  #setNode(key: string, object: JsonObject): void {
    const { nodeName } = object.spec as { readonly nodeName?: string }
    if (nodeName) this.#named.set(key, nodeName)
    else this.#named.delete(key)
  }
}
