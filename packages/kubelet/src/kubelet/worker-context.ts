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
  /** Where each Pod has an address of its own. @default they have the node's */
  readonly addresses?: PodAddresses
  /** What the node has: no Pod may grow beyond that. */
  readonly capacity: Readonly<Record<string, string>>
  /** What the node's Pods have asked for: no Pod is taken that there is no room for. */
  readonly load: NodeLoad
  /** What the node's Pods have been given, without this one, in thousandths. */
  usedByOthers(uid: string, resource: string): number
  /** Variables that tell a Pod of services. */
  services(pod: DeepReadonly<Pod>): Promise<ReadonlyMap<string, string>>
  /** Files for the containers of a Pod, by path. @default none */
  readonly filesOf?: (pod: DeepReadonly<Pod>) => Promise<ReadonlyMap<string, string>>
  sourcesOf(pod: DeepReadonly<Pod>): VolumeSources
}
