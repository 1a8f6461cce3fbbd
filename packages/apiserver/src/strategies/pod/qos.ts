import { isObject, type JsonObject } from '../../json.ts'

const counted = ['cpu', 'memory']

/** Guaranteed when every container limits what it asks for, BestEffort when none asks for anything, else Burstable. */
export function qosClassOf(pod: JsonObject): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const spec = (pod.spec ?? {}) as JsonObject
  const containers = [spec.containers, spec.initContainers].flatMap(value =>
    Array.isArray(value) ? value.filter(isObject) : [],
  )
  let asked = false
  let guaranteed = containers.length > 0
  for (const container of containers) {
    const { requests = {}, limits = {} } = (container.resources ?? {}) as Record<
      string,
      Record<string, unknown>
    >
    for (const resource of counted) {
      const request = requests[resource] ?? limits[resource]
      if (request !== undefined || limits[resource] !== undefined) asked = true
      if (limits[resource] === undefined || request !== limits[resource]) guaranteed = false
    }
  }
  if (!asked) return 'BestEffort'
  return guaranteed ? 'Guaranteed' : 'Burstable'
}
