import { isObject, type JsonObject, readJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import { type Status, StatusError } from '@coxswain/apimachinery/status'
import { decodeBase64 } from '@coxswain/kit'
import { createAdmissionRequest } from '../admission-request.ts'
import type { Attributes } from '../attributes.ts'
import type { VersionedObjects } from '../versions.ts'
import type { Candidate } from './webhook.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

/** The first version of AdmissionReview that both sides support. */
export function chooseVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find(version => version === 'v1' || version === 'v1beta1') as ReviewVersion | undefined
}

export interface ReviewQuestion {
  readonly uid: string
  readonly version: ReviewVersion
  readonly objects: VersionedObjects
}

export function encodeReview(
  attributes: Attributes,
  { matched }: Candidate,
  { uid, version, objects }: ReviewQuestion,
): Uint8Array {
  const { dryRun, options, ...request } = createAdmissionRequest(attributes, matched)
  return writeJsonBytes({
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: {
      uid,
      ...request,
      object: objects.object ?? null,
      oldObject: objects.oldObject ?? null,
      dryRun,
      options,
    },
  })
}

export interface ReviewAnswer {
  readonly allowed: boolean
  /** A JSON patch, still encoded; undefined without a patch. */
  readonly patch: Uint8Array | undefined
  readonly result: JsonObject | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

export type ReadAnswer =
  | { readonly ok: true; readonly answer: ReviewAnswer }
  /** `malformed`: the response could not be parsed. */
  | { readonly ok: false; readonly malformed: boolean; readonly problem: string }

/** Parses a webhook's response; errors are in upstream's words. */
export function readReview(
  body: Uint8Array,
  { uid, version, mutating }: ReviewQuestion & { readonly mutating: boolean },
): ReadAnswer {
  let review: unknown
  try {
    review = readJson(body).value
  } catch (error) {
    return malformed(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
  if (!isObject(review)) return malformed('json: cannot unmarshal the answer into an AdmissionReview')
  const { response } = review
  if (!isObject(response)) return invalid('webhook response was absent')
  const patch = readBase64(response.patch)
  if (patch === undefined) return malformed('illegal base64 data in response.patch')
  const problem = version === 'v1' ? describeProblem(review, response, { uid, mutating, patch }) : undefined
  if (problem !== undefined) return invalid(problem)
  if (patch.length > 0 && mutating && version === 'v1' && response.patchType !== 'JSONPatch')
    return invalid(`unsupported patch type ${JSON.stringify(response.patchType)}`)
  return {
    ok: true,
    answer: {
      allowed: response.allowed === true,
      patch: mutating && patch.length > 0 ? patch : undefined,
      result: isObject(response.status) ? response.status : undefined,
      warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
      auditAnnotations: isObject(response.auditAnnotations)
        ? (response.auditAnnotations as Record<string, string>)
        : {},
    },
  }
}

function malformed(problem: string): ReadAnswer {
  return { ok: false, malformed: true, problem }
}

function invalid(problem: string): ReadAnswer {
  return { ok: false, malformed: false, problem }
}

/** Checks v1 responses; upstream never checked those of v1beta1. */
function describeProblem(
  { apiVersion = '', kind = '' }: JsonObject,
  response: JsonObject,
  expected: { readonly uid: string; readonly mutating: boolean; readonly patch: Uint8Array },
): string | undefined {
  const uid = response.uid ?? ''
  if (uid !== expected.uid)
    return `expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(uid)}`
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
    const got = String(apiVersion).includes('/') ? apiVersion : `/${apiVersion}`
    return `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}, Kind=${kind}`
  }
  const hasPatch = expected.patch.length > 0
  const hasType = response.patchType !== undefined && response.patchType !== null
  if (!expected.mutating) {
    if (hasPatch) return 'validating webhook may not return response.patch'
    return hasType ? 'validating webhook may not return response.patchType' : undefined
  }
  if (hasPatch && !hasType) return 'webhook returned response.patch but not response.patchType'
  if (!hasPatch && hasType) return 'webhook returned response.patchType but not response.patch'
  return response.patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined
}

/** Empty when there is none, undefined when it is not valid base64. */
function readBase64(text: unknown): Uint8Array | undefined {
  if (text === undefined || text === null) return new Uint8Array()
  return typeof text === 'string' ? decodeBase64(text) : undefined
}

/** The response to a request that a webhook denied: always a failure, with a code of 400 or more. */
export function denial(webhook: string, result: JsonObject = {}): StatusError {
  const { status, message, reason, details, code } = result
  const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`
  const why = [message, reason].find(text => typeof text === 'string' && text !== '')
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: isObject(result.metadata) ? result.metadata : {},
    status: (!status || status === 'Success' ? 'Failure' : status) as 'Failure',
    message: why === undefined ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
    ...(typeof reason === 'string' && reason !== '' && { reason }),
    ...(isObject(details) && { details: details as NonNullable<Status['details']> }),
    code: typeof code === 'number' && code >= 400 ? code : 400,
  })
}
