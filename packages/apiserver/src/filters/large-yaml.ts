import { isMachineryError } from '@coxswain/apimachinery/errors'
import { newBadRequest } from '@coxswain/apimachinery/status'
import { decodeText } from '@coxswain/kit'
import { getHeader, parseMediaType, type WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Filter, Next } from '../request/filter.ts'
import { withBody } from '../request/with-body.ts'

/**
 * Parses a YAML document and returns it as JSON, without blocking the caller's thread. Rejects with a MachineryError,
 * as `readYaml` throws it.
 */
export type YamlReader = (bytes: Uint8Array) => Promise<YamlAsJson>

export interface YamlAsJson {
  readonly json: Uint8Array
  /** Strict decoding errors of the text. */
  readonly problems: readonly string[]
}

/** Smaller bodies are parsed faster than they are sent to another thread. */
const largeFrom = 16 * 1024

/**
 * Parses large YAML bodies on another thread: a quarter of a megabyte takes a tenth of a second. The body becomes JSON, so
 * handlers need not know. Comes after authorization: no work is done for unauthorized clients.
 */
export function createLargeYaml(read: YamlReader): Filter {
  return (context, next) => {
    const { body, headers } = context.request
    if (!body || body.length < largeFrom) return next(context)
    const { type } = parseMediaType(getHeader(headers, 'content-type') ?? '')
    if (!type.endsWith('yaml') || isJson(body)) return next(context)
    return readElsewhere(context, body, next)
  }

  async function readElsewhere(context: RequestContext, body: Uint8Array, next: Next): Promise<WireResponse> {
    try {
      const { json, problems } = await read(body)
      context.request = withBody(context.request, json)
      context.yamlProblems = problems
    } catch (error) {
      if (isMachineryError(error)) throw newBadRequest(`error decoding YAML: ${error.message}`)
      throw error
    }
    return await next(context)
  }
}

/** Whether the body is JSON, as most bodies of this type are: kubectl sends its applies so. */
function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(decodeText(body))
    return true
  } catch {
    return false
  }
}
