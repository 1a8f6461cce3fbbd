import { isMachineryError } from '@coxswain/apimachinery/errors'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { newBadRequest, newRequestEntityTooLarge } from '@coxswain/apimachinery/status'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { apiVersionOf, type Endpoint } from '../registry/registry.ts'
import type { ResourceContext } from '../request/context.ts'
import { isTrue } from '../request/request-info.ts'
import { bytesOf, splitYamlProblem } from './body.ts'
import { requireName } from './checks.ts'
import { placeAt } from './lifecycle.ts'
import { metadataOf } from './metadata.ts'
import type { Write } from './write.ts'

/** A write that applies a manager's configuration to the present object. */
export interface ApplyWrite extends Write {
  readonly configuration: Configuration
}

export interface Configuration {
  readonly patch: JsonObject
  /** Strict decoding errors of its text. */
  readonly problems: readonly string[]
}

/** Merges the manager's configuration into the body of the write. Throws a 409 when other managers own its fields. */
export function mergeConfiguration(write: ApplyWrite): void {
  const { ports, context, endpoint, options, configuration, old } = write
  const object = ports.fieldManagers.of(endpoint).apply({
    live: old,
    patch: configuration.patch,
    manager: options.fieldManager,
    force: isTrue(context.query.get('force')),
    subresource: context.info.subresource,
  })
  write.body = { object: object as JsonObject, duplicates: [] }
}

/** Duplicate keys in the configuration, which strict field validation rejects. */
export function reportRepeatedKeys({ context, configuration, options }: ApplyWrite): void {
  const { fieldValidation } = options
  if (fieldValidation === 'Ignore') return
  for (const problem of configuration.problems) {
    if (fieldValidation === 'Strict')
      throw newBadRequest(`error strict decoding YAML: error converting YAML to JSON: ${problem}`)
    context.warnings.pushAll(splitYamlProblem(problem))
  }
}

/** The body as an object of the endpoint's kind and the path's name. */
export function readConfiguration(context: ResourceContext, endpoint: Endpoint): Configuration {
  const { resource, version } = endpoint
  let patch: unknown
  let problems: readonly string[]
  try {
    const document = readYaml(bytesOf(context))
    patch = document?.value
    problems = [...(context.yamlProblems ?? []), ...(document?.problems ?? [])]
  } catch (error) {
    if (isMachineryError(error, 'JsonTooLarge')) throw newRequestEntityTooLarge(error.message)
    if (isMachineryError(error)) throw newBadRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
  if (!isObject(patch)) throw newBadRequest('error decoding YAML: the body is not an object')
  const expected = apiVersionOf(resource.info.group, version.name)
  if (patch.apiVersion !== expected || patch.kind !== resource.info.kind) {
    const given = String(patch.apiVersion ?? '')
    const qualified = given.includes('/') ? given : `/${given}`
    throw newBadRequest(`invalid object type: ${qualified}, Kind=${String(patch.kind ?? '')}`)
  }
  if (!isObject(patch.metadata)) patch.metadata = {}
  const metadata = metadataOf(patch)
  metadata.name ??= context.info.name
  requireName(context, metadata.name)
  placeAt(endpoint, patch, context.info.namespace)
  return { patch, problems }
}
