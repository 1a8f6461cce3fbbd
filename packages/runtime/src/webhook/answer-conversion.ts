import { type ConversionStep, convertObject } from '@coxswain/apimachinery/kinds'
import { type ApiObject, parseGroupVersion } from '@coxswain/apimachinery/meta'
import { failureStatus, isStatusError, successStatus } from '@coxswain/apimachinery/status'
import type { Logger } from '@coxswain/kit'
import { type ConversionRequest, type ConversionResponse, isMembers } from './review.ts'
import type { WebhookDefinition } from './webhook-builder.ts'

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

  /** The object in another version of its group; see `convertObject`. */
  convert(object: ApiObject, apiVersion: string): ApiObject {
    const { group } = parseGroupVersion(object.apiVersion)
    return convertObject(object, apiVersion, this.#steps.get(`${group}/${object.kind}`) ?? [])
  }
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
