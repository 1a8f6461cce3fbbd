import { isMachineryError } from '@coxswain/apimachinery/errors'
import { newBadRequest } from '@coxswain/apimachinery/status'
import { decodeText } from '@coxswain/kit'
import { getHeader, parseMediaType, type WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Filter, Next } from '../request/filter.ts'
import { withBody } from '../request/with-body.ts'

/**
 * Reads a YAML document and gives it as JSON, without holding up the caller's thread. Rejects with a MachineryError,
 * as `readYaml` throws it.
 */
export type YamlReader = (bytes: Uint8Array) => Promise<YamlAsJson>

export interface YamlAsJson {
  readonly json: Uint8Array
  /** What strict decoding has against the text. */
  readonly problems: readonly string[]
}

/** Smaller bodies are read faster than they are handed over. */
const largeFrom = 16 * 1024

/**
 * Has large bodies of YAML read elsewhere: a quarter of a megabyte takes a tenth of a second. JSON is YAML, so that
 * handlers read on as if it had come like that. Comes after authorization: no work is done for unauthorized clients.
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

/** Most bodies of this type are: kubectl sends its applies so. */
function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(decodeText(body))
    return true
  } catch {
    return false
  }
}
