import { getHeader, isStream, type WireBody, type WireResponse } from '@coxswain/wire'
import { acceptsGzip, type Compression } from '../request/compression.ts'
import type { Filter } from '../request/filter.ts'
import { isLongRunning } from '../request/long-running.ts'

/** Smaller responses are not compressed: upstream's limit. */
const smallest = 128 * 1024

/** Compresses large responses to reads when the client accepts gzip. Long-running streams are left alone. */
export function createCompress(compression: Compression): Filter {
  return (context, next) => {
    // Later filters may remove headers, so Accept-Encoding is read first.
    const { request, info } = context
    const isWanted =
      request.method === 'GET' &&
      !isLongRunning(info) &&
      acceptsGzip(getHeader(request.headers, 'accept-encoding'))
    if (!isWanted) return next(context)
    const answer = next(context)
    return answer instanceof Promise ? answer.then(compress) : compress(answer)
  }

  function compress(response: WireResponse): WireResponse {
    const { status, headers, body } = response
    if (status !== 200 || headers['content-encoding'] !== undefined || !isLarge(body)) return response
    const vary = headers.vary === undefined ? 'Accept-Encoding' : `${String(headers.vary)}, Accept-Encoding`
    return {
      status,
      headers: { ...headers, 'content-encoding': 'gzip', vary },
      body: compression.gzip(isStream(body) ? body : piecesOf(body)),
    }
  }
}

/** Lists are only streamed when they are large. */
function isLarge(body: WireBody | undefined): body is WireBody {
  if (body === undefined) return false
  if (body instanceof Uint8Array) return body.length > smallest
  return isStream(body) || body.reduce((sum, { length }) => sum + length, 0) > smallest
}

async function* piecesOf(
  body: Uint8Array | readonly Uint8Array[],
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}
