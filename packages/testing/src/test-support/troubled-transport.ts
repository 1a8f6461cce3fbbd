import type { Env } from '@coxswain/kit'
import { isStream, type Transport, type WireResponse } from '@coxswain/wire'

/** How late a watch is, in milliseconds. */
const delay = 300
/** Every so many writes, somebody else has been quicker. */
const conflictEvery = 4

/** A connection over which caches are stale and writes meet conflicts. */
export function createTroubledTransport(inner: Transport, { clock }: Env): Transport {
  let writes = 0
  return {
    send: async request => {
      const isUpdate = request.method === 'PUT' || request.method === 'PATCH' || request.method === 'DELETE'
      if (isUpdate && !request.path.includes('/events') && ++writes % conflictEvery === 0) return conflict()
      const response = await inner.send(request)
      return isStream(response.body)
        ? { ...response, body: late(response.body, () => clock.sleep(delay, { signal: request.signal })) }
        : response
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
}

async function* late(body: AsyncIterable<Uint8Array>, wait: () => Promise<void>): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    await wait()
    yield chunk
  }
}

function conflict(): WireResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'the object has been modified; please apply your changes to the latest version and try again',
    reason: 'Conflict',
    code: 409,
  }
  return {
    status: 409,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(status)),
  }
}
