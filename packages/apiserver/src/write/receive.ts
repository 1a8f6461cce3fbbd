import { newBadRequest } from '@coxswain/apimachinery/status'
import type { DecodedBody } from '../registry/conventions.ts'
import type { Endpoint } from '../registry/registry.ts'
import { readBody } from './body.ts'
import { kindOf, type Write } from './write.ts'

const noBytes = new Uint8Array()

/** Parses the body by its media type. */
export function receiveBody(write: Write): void {
  const { context, endpoint } = write
  write.body = readBody(context, endpoint.resource.bodies, kindOf(endpoint))
}

/**
 * Decodes the body as an object of the endpoint's kind and version: unknown fields are dropped and reported. Throws a 400 for
 * another kind.
 */
export function decode(write: Write): void {
  const { context, endpoint } = write
  const body = write.body!
  const { object, unknown } = endpoint.resource.decode(endpoint, body, context.request.body ?? noBytes)
  const errors = strictErrors(unknown, body)
  if (errors.length > 0) reportStrict(write, endpoint, errors)
  write.object = object
}

/** Fills in defaults. */
export function applyDefaults({ endpoint, object }: Write): void {
  endpoint.resource.applyDefaults(endpoint, object)
}

const noErrors: readonly string[] = []

/** Unknown fields before duplicate ones, as upstream lists them. */
function strictErrors(unknown: readonly string[], body: DecodedBody): readonly string[] {
  const { patchProblems = noErrors, problems = noErrors, duplicates } = body
  if (unknown.length + patchProblems.length + problems.length + duplicates.length === 0) return noErrors
  return [
    ...patchProblems,
    ...unknown.map(path => `unknown field ${JSON.stringify(path)}`),
    ...problems,
    ...duplicates.map(path => `duplicate field ${JSON.stringify(path)}`),
  ]
}

/** The warnings for a text about duplicate keys of a YAML document: one per line. */
export function splitYamlProblem(text: string): string[] {
  const [first = '', ...lines] = text.split('\n')
  return first === 'yaml: unmarshal errors:' ? lines.map(line => line.trim()) : [text]
}

function reportStrict(
  { context, options }: Write,
  { resource, version }: Endpoint,
  errors: readonly string[],
): void {
  if (options.fieldValidation === 'Ignore') return
  if (options.fieldValidation === 'Warn') {
    for (const error of errors) context.warnings.pushAll(splitYamlProblem(error))
    return
  }
  const { kind } = resource.info
  const detail = `strict decoding error: ${errors.join(', ')}`
  throw newBadRequest(
    `${kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${kind}: ${detail}`,
  )
}
