import { childObject, deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery'
import { type AdmissionPlugin, isPodWrite } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { forbidden } from './policies/policy-request.ts'

interface RuntimeClass {
  readonly overhead?: { readonly podFixed?: JsonObject }
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>
    readonly tolerations?: readonly JsonObject[]
  }
}

const prefix = '/node.k8s.io/runtimeclasses/'
const differentOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

/** Pods of a runtime class go to its nodes, and cost what it costs. */
export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  mutate(attributes) {
    if (!isPodWrite(attributes, 'CREATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    const found = findClass(attributes, spec)
    if (found?.overhead) {
      const overhead = found.overhead.podFixed ?? {}
      if (isSet(spec.overhead) && !deepEqual(spec.overhead, overhead))
        throw forbidden(attributes, differentOverhead)
      if (isSet(overhead)) spec.overhead = { ...overhead }
    }
    if (found?.scheduling) applyScheduling(attributes, spec, found.scheduling)
  },
  validate(attributes) {
    if (!isPodWrite(attributes, 'CREATE') || !attributes.object) return
    const spec = childObject(attributes.object, 'spec')
    const found = findClass(attributes, spec)
    if (found?.overhead) {
      if (!deepEqual(spec.overhead ?? {}, found.overhead.podFixed ?? {}))
        throw forbidden(attributes, differentOverhead)
    } else if (spec.overhead !== undefined) {
      const detail = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
      throw forbidden(attributes, detail)
    }
  },
}

const isSet = (value: unknown): boolean => isObject(value) && Object.keys(value).length > 0

function findClass(attributes: Attributes, spec: JsonObject): RuntimeClass | undefined {
  const name = spec.runtimeClassName as string | undefined
  if (name === undefined) return undefined
  const found = attributes.server.cache.resource(prefix).get(prefix + name)
  if (found) return found.parse() as RuntimeClass
  throw forbidden(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
}

function applyScheduling(
  attributes: Attributes,
  spec: JsonObject,
  scheduling: NonNullable<RuntimeClass['scheduling']>,
): void {
  const { nodeSelector, tolerations = [] } = scheduling
  if (nodeSelector) {
    const own = childObject(spec, 'nodeSelector') as Record<string, string>
    for (const [key, value] of Object.entries(nodeSelector)) {
      if (own[key] !== undefined && own[key] !== value) {
        const detail = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`
        throw forbidden(attributes, detail)
      }
      own[key] = value
    }
  }
  const present = Array.isArray(spec.tolerations) ? spec.tolerations.filter(isObject) : []
  const merged = mergeTolerations([...present, ...tolerations])
  if (merged.length > 0) spec.tolerations = merged
}

/** What another toleration covers is left out; of two equal ones the first stays. */
function mergeTolerations(all: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const [index, toleration] of all.entries()) {
    if (merged.some(other => isCovered(toleration, other))) continue
    const rest = all.slice(index + 1)
    if (rest.some(other => !deepEqual(other, toleration) && isCovered(toleration, other))) continue
    merged.push(toleration)
  }
  return merged
}

function isCovered(toleration: JsonObject, by: JsonObject): boolean {
  if (deepEqual(toleration, by)) return true
  if ((toleration.key ?? '') !== (by.key ?? '') && (by.key || by.operator !== 'Exists')) return false
  if (by.effect && toleration.effect !== by.effect) return false
  if (by.effect === 'NoExecute' && by.tolerationSeconds !== undefined) {
    const { tolerationSeconds } = toleration as { tolerationSeconds?: number | bigint }
    if (tolerationSeconds === undefined || tolerationSeconds > (by.tolerationSeconds as number | bigint))
      return false
  }
  if (by.operator === 'Exists') return true
  return toleration.operator === 'Equal' && (toleration.value ?? '') === (by.value ?? '')
}
