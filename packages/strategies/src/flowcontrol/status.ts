import type { FlowSchema, PriorityLevelConfiguration } from '@coxswain/api/flowcontrol/v1'
import * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../decoded.ts'
import type { Findings } from '../shared/reading.ts'

/** Conditions of both kinds: one of each type. */
export function* validateStatus(object: Decoded<FlowSchema> | Decoded<PriorityLevelConfiguration>): Findings {
  const path = field.Path.of('status', 'conditions')
  const types = new Set<string>()
  for (const [index, condition] of (object.status?.conditions ?? []).entries()) {
    const at = path.index(index).child('type')
    const type = condition.type ?? ''
    if (types.has(type)) yield field.duplicate(at, type)
    types.add(type)
    if (type === '') yield field.required(at)
  }
}
