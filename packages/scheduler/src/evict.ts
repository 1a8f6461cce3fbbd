import type { PodView } from '@coxswain/kinds'

/** Evicts a preempted pod. Resolves when its deletion was requested. */
export type Evict = (victim: PodView, preemptor: PodView, node: string) => Promise<void>
