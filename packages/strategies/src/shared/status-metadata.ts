import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Decoded } from '../decoded.ts'
import { keep } from './members.ts'

interface WithMetadata {
  readonly metadata: Decoded<ObjectMeta>
}

/** For kinds whose labels and annotations do not change with the status: they stay as they were. */
export function keepStatusMetadata({ metadata }: WithMetadata, old: WithMetadata): void {
  keep(metadata, old.metadata, ['labels', 'annotations'])
}
