import { decodeBuiltin } from '@coxswain/api'
import type { HorizontalPodAutoscalerBehavior } from '@coxswain/api/autoscaling/v2'
import { isMachineryError } from '@coxswain/apimachinery/errors'
import { isObject, writeJson } from '@coxswain/apimachinery/json'
import type { Decoded } from '../decoded.ts'
import { goValue } from '../shared/go-value.ts'

type Behavior = Decoded<HorizontalPodAutoscalerBehavior>

/** The annotation holds upstream's internal type, with Go's names. */
export function behaviorToText(behavior: Behavior): string {
  return writeJson(goValue('autoscaling.HorizontalPodAutoscalerBehavior', behavior))
}

const kind = { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscalerBehavior' }

/** Reads names in any case, as Go does; undefined when the text is not a behavior. */
export function behaviorFromText(annotation: string | undefined): Behavior | undefined {
  if (!annotation) return undefined
  try {
    const behavior: Behavior = decodeBuiltin(kind, withJsonNames(JSON.parse(annotation))).object
    return behavior.scaleUp || behavior.scaleDown ? behavior : undefined
  } catch (error) {
    if (error instanceof SyntaxError || isMachineryError(error)) return undefined
    throw error
  }
}

const jsonNames = new Map(
  [
    ...['scaleUp', 'scaleDown', 'stabilizationWindowSeconds', 'selectPolicy', 'policies', 'tolerance'],
    ...['type', 'value', 'periodSeconds'],
  ].map(name => [name.toLowerCase(), name]),
)

function withJsonNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withJsonNames)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      jsonNames.get(name.toLowerCase()) ?? name,
      withJsonNames(item),
    ]),
  )
}
