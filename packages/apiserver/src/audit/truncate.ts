import { writeJsonBytes } from '@coxswain/apimachinery/json'
import type { AuditEvent } from './event.ts'

const truncatedAnnotation = 'audit.k8s.io/truncated'

/** Limits an event to `maxBytes`: the objects of a larger one are dropped, which it records in an annotation. */
export function truncateEvent(event: AuditEvent, maxBytes: number): AuditEvent | undefined {
  if (sizeOf(event) <= maxBytes) return event
  const { requestObject: _, responseObject: __, ...rest } = event
  const annotations = {
    ...(event.annotations as Record<string, string> | undefined),
    [truncatedAnnotation]: 'true',
  }
  const small = { ...rest, annotations } as AuditEvent
  return sizeOf(small) <= maxBytes ? small : undefined
}

const sizeOf = (event: AuditEvent): number => writeJsonBytes(event).length
