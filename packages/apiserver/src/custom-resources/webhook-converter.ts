import * as field from '@coxswain/apimachinery/field'
import { deepClone, isObject, type JsonObject, readJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import { StatusError } from '@coxswain/apimachinery/status'
import { validateAnnotations, validateLabels } from '@coxswain/apimachinery/validation'
import type { Env } from '@coxswain/kit'
import type { ConvertAll } from '@coxswain/strategies'
import { endCall, type WebhookClient, type WebhookClientConfig } from '../outbound/webhook-client.ts'

/** The timeout of a call, in milliseconds, and as the query has it. */
const timeout = 30_000
const timeoutQuery = 'timeout=30s'

const reviewGroup = 'apiextensions.k8s.io'

/** What conversion webhooks need of the server. */
export interface ConverterPorts {
  readonly env: Pick<Env, 'random' | 'tracer'>
  readonly webhooks: Pick<WebhookClient, 'post'>
}

/** The conversion webhook of a CRD. */
export interface ConversionWebhook {
  readonly clientConfig?: WebhookClientConfig
  readonly conversionReviewVersions?: readonly string[]
}

/**
 * Converts objects with the conversion webhook of a CRD: one ConversionReview for all given objects. The response is
 * checked as upstream does; only labels and annotations of its metadata are used. Any failure is a 500 that fails
 * the request, in upstream's words.
 */
export function createWebhookConverter(
  { env, webhooks }: ConverterPorts,
  { clientConfig = {}, conversionReviewVersions = [] }: ConversionWebhook,
): ConvertAll {
  const version = conversionReviewVersions.find(candidate => candidate === 'v1' || candidate === 'v1beta1')
  return async (objects, apiVersion) => {
    if (!version) throw internal('no supported conversion review versions')
    const [first] = objects
    if (!first) return []
    const { group, version: from } = splitVersion(first.apiVersion)
    const who = `conversion webhook for ${group}/${from}, Kind=${String(first.kind)}`
    const uid = env.random.uuid()
    const body = writeJsonBytes({
      kind: 'ConversionReview',
      apiVersion: `${reviewGroup}/${version}`,
      request: { uid, desiredAPIVersion: apiVersion, objects: objects.map(withoutVersion) },
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    })
    // One conversion may be for several requests, hence a trace of its own.
    const span = env.tracer?.startSpan('Call conversion webhook', {
      kind: 'client',
      parent: 'none',
      attributes: { 'custom-resource-definition': String(first.kind), 'desired-api-version': apiVersion },
    })
    const trace = span?.context
    const result = await webhooks.post({ config: clientConfig, body, query: timeoutQuery, timeout, trace })
    if (span) endCall(span, result)
    if (!result.ok) throw internal(`${who} failed: ${result.reason}`)
    const answer = readAnswer(result.body, version, uid)
    if ('problem' in answer) throw internal(`${who} failed: ${answer.problem}`)
    const { converted } = answer
    if (converted.length !== objects.length)
      throw internal(`${who} returned ${converted.length} objects, expected ${objects.length}`)
    return objects.map((object, index) => {
      const place = objects.length === 1 ? 'object' : `converted object at index ${index}`
      return takeOver(object, converted[index], apiVersion, { who, place })
    })
  }
}

/** An error of upstream's converter: it has no reason. */
function internal(message: string): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    code: 500,
  })
}

function splitVersion(apiVersion: unknown): { readonly group: string; readonly version: string } {
  const [group = '', version = ''] = String(apiVersion).split('/')
  return { group, version }
}

/** Webhooks see objects as they are stored. */
function withoutVersion(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = object.metadata as JsonObject
  return { ...object, metadata }
}

type Answer = { readonly converted: readonly unknown[] } | { readonly problem: string }

function readAnswer(body: Uint8Array, version: string, uid: string): Answer {
  let review: unknown
  try {
    review = readJson(body, { maxBytes: Number.POSITIVE_INFINITY }).value
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  if (!isObject(review)) return { problem: `couldn't get version/kind; json parse error` }
  const { group, version: got } = splitVersion(review.apiVersion ?? '/')
  const isExpected = review.kind === 'ConversionReview' && group === reviewGroup && got === version
  if (version === 'v1' && !isExpected) {
    const wanted = `${reviewGroup}/${version}, Kind=ConversionReview`
    const found = `${group}/${got}, Kind=${String(review.kind ?? '')}`
    return { problem: `expected webhook response of ${wanted}, got ${found}` }
  }
  const { response } = review
  if (!isObject(response)) return { problem: 'no response provided' }
  if (version === 'v1' && response.uid !== uid) {
    const found = JSON.stringify(String(response.uid ?? ''))
    return { problem: `expected response.uid=${JSON.stringify(uid)}, got ${found}` }
  }
  const result = isObject(response.result) ? response.result : {}
  if (result.status !== 'Success') {
    if (typeof result.message === 'string' && result.message !== '') return { problem: result.message }
    return { problem: `response.result.status was '${String(result.status ?? '')}', not 'Success'` }
  }
  return { converted: Array.isArray(response.convertedObjects) ? response.convertedObjects : [] }
}

/** The converted object with its original metadata, except for labels and annotations, which are the webhook's. */
function takeOver(
  object: JsonObject,
  converted: unknown,
  apiVersion: string,
  { who, place }: { readonly who: string; readonly place: string },
): JsonObject {
  const fail = (problem: string) => internal(`${who} returned invalid ${place}: ${problem}`)
  if (!isObject(converted)) throw fail(`Object 'Kind' is missing`)
  const at = place === 'object' ? 'object at index 0' : place
  if (converted.apiVersion !== apiVersion) {
    const problem = `invalid groupVersion (expected ${apiVersion}, received ${String(converted.apiVersion ?? '')})`
    throw internal(`${who} returned invalid ${at}: ${problem}`)
  }
  if (converted.kind !== object.kind) {
    const problem = `invalid kind (expected ${String(object.kind)}, received ${String(converted.kind ?? '')})`
    throw internal(`${who} returned invalid ${at}: ${problem}`)
  }
  const before = object.metadata as JsonObject
  const after = isObject(converted.metadata) ? converted.metadata : {}
  for (const [name, label] of identity) {
    const [expected, got] = [String(before[name] ?? ''), String(after[name] ?? '')]
    if (expected !== got) throw fail(`must have the same ${label}: ${expected} != ${got}`)
  }
  const metadata = deepClone(before)
  const problem = restoreMetadata(metadata, converted.metadata)
  if (problem !== undefined) {
    const where = place === 'object' ? 'metadata' : `metadata in ${place.replace('converted ', '')}`
    throw internal(`${who} returned invalid ${where}: ${problem}`)
  }
  return { ...converted, metadata }
}

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

/** Copies the webhook's labels and annotations into `metadata`. Returns what is wrong with them. */
function restoreMetadata(metadata: JsonObject, given: unknown): string | undefined {
  if (given === undefined) return 'missing metadata in converted object'
  if (!isObject(given)) return `invalid metadata of type ${goType(given)} in converted object`
  for (const name of ['labels', 'annotations'] as const) {
    const texts = given[name]
    if (texts === undefined || texts === null) {
      delete metadata[name]
      continue
    }
    if (!isObject(texts)) return `invalid metadata.${name} of type ${goType(texts)} in converted object`
    for (const [key, value] of Object.entries(texts)) {
      if (typeof value !== 'string')
        return `metadata.${name}[${key}] must be a string, but is ${goType(value)} in converted object`
    }
    const path = field.Path.of('metadata', name === 'labels' ? 'labels' : 'annotation')
    const validate = name === 'labels' ? validateLabels : validateAnnotations
    const errors = validate(texts as Record<string, string>, path)
    if (errors.length > 0) return field.aggregate(errors)
    metadata[name] = texts
  }
  return undefined
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (value === null) return '<nil>'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64'
}
