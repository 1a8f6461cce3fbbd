import { childObject, deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
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

/** Sets the overhead and scheduling constraints of a Pod's RuntimeClass. */
export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  needs: 'pods',
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

/**
 * Drops tolerations that another one covers; the first of two equal ones stays. Tolerations that can cover the same
 * ones differ only in their seconds, so only the longest of each group is compared.
 */
export function mergeTolerations(all: readonly JsonObject[]): JsonObject[] {
  const texts = all.map(({ key, operator, value, effect, tolerationSeconds }) =>
    JSON.stringify([key, operator, value, effect, String(tolerationSeconds)]),
  )
  const later = new Longest()
  const isCoveredLater = new Set<number>()
  for (let index = all.length - 1; index >= 0; index--) {
    if (later.covers(all[index]!, texts[index]!)) isCoveredLater.add(index)
    later.add(all[index]!, texts[index]!)
  }
  const merged = new Longest()
  const mergedTexts = new Set<string>()
  return all.filter((toleration, index) => {
    const text = texts[index]!
    if (mergedTexts.has(text) || merged.covers(toleration, text) || isCoveredLater.has(index)) return false
    merged.add(toleration, text)
    mergedTexts.add(text)
    return true
  })
}

interface Longer {
  readonly seconds: number | bigint
  readonly text: string
}

/** Of tolerations that differ only in their seconds, the longest, and the longest that is not equal to it. */
class Longest {
  readonly #groups = new Map<string, { first: Longer; second?: Longer }>()

  add(toleration: JsonObject, text: string): void {
    const { key = '', operator, value = '', effect = '', tolerationSeconds } = toleration
    const name = groupName(key, operator === 'Exists' ? undefined : value, effect)
    const isLimited = effect === 'NoExecute' && tolerationSeconds !== undefined
    const added = {
      seconds: isLimited ? (tolerationSeconds as number | bigint) : Number.POSITIVE_INFINITY,
      text,
    }
    const group = this.#groups.get(name)
    if (!group) this.#groups.set(name, { first: added })
    else if (group.first.text === text) return
    else if (added.seconds > group.first.seconds)
      this.#groups.set(name, { first: added, second: group.first })
    else if (!group.second || added.seconds > group.second.seconds) group.second = added
  }

  /**
   * Whether a toleration that is not equal to `toleration` covers it. One without a key covers every key if it is for every
   * value; one without an effect covers every effect.
   */
  covers(toleration: JsonObject, text: string): boolean {
    const { key = '', operator, value = '', effect = '', tolerationSeconds } = toleration
    const seconds =
      tolerationSeconds === undefined ? Number.POSITIVE_INFINITY : (tolerationSeconds as number | bigint)
    const lasts = (name: string) => {
      const group = this.#groups.get(name)
      const longest = group?.first.text === text ? group.second : group?.first
      return longest !== undefined && longest.seconds >= seconds
    }
    return ['', effect].some(
      other =>
        lasts(groupName('', undefined, other)) ||
        lasts(groupName(key, undefined, other)) ||
        (operator === 'Equal' && lasts(groupName(key, value, other))),
    )
  }
}

/** `value` is undefined for tolerations of every value. */
function groupName(key: unknown, value: unknown, effect: unknown): string {
  return JSON.stringify([key, value, effect])
}
