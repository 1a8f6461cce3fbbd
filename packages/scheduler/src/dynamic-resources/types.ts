import type { NodeSelector as CoreNodeSelector } from '@coxswain/api/core/v1'
import type {
  AllocationResult as ResourceAllocationResult,
  CounterSet as ResourceCounterSet,
} from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type NodeSelector = DeepReadonly<CoreNodeSelector>
export type CounterSet = DeepReadonly<ResourceCounterSet>
export type AllocationResult = DeepReadonly<ResourceAllocationResult>
