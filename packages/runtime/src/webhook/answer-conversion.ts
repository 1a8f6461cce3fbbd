import { deepClone } from '@coxswain/apimachinery/json'
import {
  type ApiObject,
  formatGroupVersion,
  type ObjectMeta,
  parseGroupVersion,
} from '@coxswain/apimachinery/meta'
import { failureStatus, isStatusError, successStatus } from '@coxswain/apimachinery/status'
import type { Logger } from '@coxswain/kit'
import { type ConversionRequest, type ConversionResponse, isMembers } from './review.ts'
import type { ConversionStep, WebhookDefinition } from './webhook-builder.ts'

/** The conversions between the versions of all kinds. */
export class ConversionGraph {
  /** By group and kind. */
  readonly #steps = new Map<string, ConversionStep[]>()

  constructor(definitions: readonly WebhookDefinition[]) {
    for (const { kind, conversions } of definitions) {
      if (conversions.length === 0) continue
      const id = `${kind.group}/${kind.kind}`
      this.#steps.set(id, [...(this.#steps.get(id) ?? []), ...conversions])
    }
  }

  get isEmpty(): boolean {
    return this.#steps.size === 0
  }

  /**
   * The object in another version of its group, by the shortest chain of conversions; the given one is not changed.
   * @throws Error when there is no conversion, and what a conversion throws
   */
  convert(object: ApiObject, apiVersion: string): ApiObject {
    const { group, version } = parseGroupVersion(object.apiVersion)
    const target = parseGroupVersion(apiVersion)
    if (target.group !== group) throw new Error(`${object.kind} of ${group} is not in group ${target.group}`)
    let converted = deepClone(object)
    for (const step of this.#wayOf(group, object.kind, version, target.version)) {
      const { metadata, ...fields } = step.convert(converted)
      converted = {
        ...fields,
        apiVersion: formatGroupVersion({ group, version: step.to }),
        kind: object.kind,
        metadata: withChanges(converted.metadata, metadata),
      }
    }
    return converted
  }

  #wayOf(group: string, kind: string, from: string, to: string): readonly ConversionStep[] {
    if (from === to) return []
    const steps = this.#steps.get(`${group}/${kind}`) ?? []
    const seen = new Set([from])
    let front: { readonly at: string; readonly way: readonly ConversionStep[] }[] = [{ at: from, way: [] }]
    while (front.length > 0) {
      const next: typeof front = []
      for (const { at, way } of front) {
        for (const step of steps) {
          if (step.from !== at || seen.has(step.to)) continue
          if (step.to === to) return [...way, step]
          seen.add(step.to)
          next.push({ at: step.to, way: [...way, step] })
        }
      }
      front = next
    }
    throw new Error(`no conversion of ${kind} of ${group} from ${from} to ${to}`)
  }
}

/** Only labels and annotations may change: the server rejects anything else. */
function withChanges(
  metadata: ApiObject['metadata'],
  changes: Pick<ObjectMeta, 'labels' | 'annotations'> | undefined,
): ApiObject['metadata'] {
  const { labels, annotations } = changes ?? {}
  return { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) }
}

export interface ConversionDependencies {
  readonly log: Logger
  /** Called when a conversion failed. */
  readonly onPanic: () => void
}

/** Converts all objects of a request, or fails with the reason why one of them cannot be. */
export function answerConversion(
  graph: ConversionGraph,
  { uid, desiredAPIVersion, objects }: ConversionRequest,
  { log, onPanic }: ConversionDependencies,
): ConversionResponse {
  const fail = (message: string): ConversionResponse => ({
    uid,
    convertedObjects: [],
    result: failureStatus({ code: 500, reason: 'InternalError', message }),
  })
  if (!Array.isArray(objects ?? [])) return fail('objects is not a list')
  const convertedObjects: ApiObject[] = []
  for (const object of objects ?? []) {
    if (!isObject(object)) return fail('one of the objects has no apiVersion, kind and metadata')
    try {
      convertedObjects.push(graph.convert(object, desiredAPIVersion))
    } catch (error) {
      if (isStatusError(error)) return { uid, convertedObjects: [], result: error.status }
      onPanic()
      const name = `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`
      log.error('a conversion failed', {
        error,
        object: name,
        from: object.apiVersion,
        to: desiredAPIVersion,
      })
      return fail(`${name} cannot be converted to ${desiredAPIVersion}: ${messageOf(error)}`)
    }
  }
  return { uid, convertedObjects, result: successStatus() }
}

function isObject(value: unknown): value is ApiObject {
  return (
    isMembers(value) &&
    typeof value.apiVersion === 'string' &&
    typeof value.kind === 'string' &&
    isMembers(value.metadata)
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
