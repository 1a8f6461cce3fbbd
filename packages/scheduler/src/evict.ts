import type { PodView } from '@coxswain/kinds'

/** Makes a pod leave for another. Resolves when it is on its way. */
export type Evict = (victim: PodView, preemptor: PodView, node: string) => Promise<void>
