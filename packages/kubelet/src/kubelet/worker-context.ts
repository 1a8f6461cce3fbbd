import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Env } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import type { ContainerRuntime } from '../container-runtime.ts'
import type { ImagePuller } from './image-puller.ts'
import type { NodeLoad } from './node-load.ts'
import type { PodAddresses } from './pod-addresses.ts'
import type { VolumeSources } from './volumes.ts'

/** What the workers of one node share. */
export interface WorkerContext {
  readonly env: Env
  readonly runtime: ContainerRuntime
  /** The node's. */
  readonly events: EventRecorder
  readonly images: ImagePuller
  readonly hostIP: string
  /** Set where each Pod has its own address. @default Pods have the node's */
  readonly addresses?: PodAddresses
  /** The node's capacity: no resize may exceed it. */
  readonly capacity: Readonly<Record<string, string>>
  /** The requests of the node's Pods: a Pod that does not fit is rejected. */
  readonly load: NodeLoad
  /** The allocated resources of the node's other Pods, in thousandths. */
  usedByOthers(uid: string, resource: string): number
  /** The service variables of a Pod. */
  services(pod: DeepReadonly<Pod>): Promise<ReadonlyMap<string, string>>
  /** Files for the containers of a Pod, by path. @default none */
  readonly filesOf?: (pod: DeepReadonly<Pod>) => Promise<ReadonlyMap<string, string>>
  sourcesOf(pod: DeepReadonly<Pod>): VolumeSources
}
