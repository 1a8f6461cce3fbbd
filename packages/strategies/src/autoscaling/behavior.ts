import { isObject, type JsonObject, writeJson } from '@coxswain/apimachinery/json'
import { list, number, plain, pointer, struct, text } from '../shared/go-form.ts'
import { listOf } from '../shared/reading.ts'

const rules = struct({
  StabilizationWindowSeconds: plain('stabilizationWindowSeconds'),
  SelectPolicy: plain('selectPolicy'),
  Policies: list(
    'policies',
    struct({ Type: text('type'), Value: number('value'), PeriodSeconds: number('periodSeconds') }),
  ),
  Tolerance: plain('tolerance'),
})
const behaviorForm = struct({ ScaleUp: pointer('scaleUp', rules), ScaleDown: pointer('scaleDown', rules) })

/** The annotation holds upstream's internal type, with Go's names. */
export function behaviorToText(behavior: JsonObject): string {
  return writeJson(behaviorForm(behavior))
}

/** Reads names in any case, as Go does; undefined when the text is no behavior. */
export function behaviorFromText(annotation: string | undefined): JsonObject | undefined {
  if (!annotation) return undefined
  try {
    const value = lowerNames(JSON.parse(annotation))
    if (!isObject(value)) return undefined
    const behavior: JsonObject = {}
    for (const name of ['scaleUp', 'scaleDown']) {
      const found = value[name.toLowerCase()]
      if (isObject(found)) behavior[name] = readRules(found)
    }
    return Object.keys(behavior).length > 0 ? behavior : undefined
  } catch {
    return undefined
  }
}

function readRules(source: JsonObject): JsonObject {
  const found: JsonObject = {}
  const take = (name: string, value: unknown) => {
    if (value !== undefined && value !== null) found[name] = value
  }
  take('stabilizationWindowSeconds', source.stabilizationwindowseconds)
  take('selectPolicy', source.selectpolicy)
  if (Array.isArray(source.policies)) {
    found.policies = listOf(source.policies).map(policy => ({
      type: policy.type ?? '',
      value: policy.value ?? 0,
      periodSeconds: policy.periodseconds ?? 0,
    }))
  }
  take('tolerance', source.tolerance)
  return found
}

function lowerNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerNames)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name.toLowerCase(), lowerNames(item)]),
  )
}
