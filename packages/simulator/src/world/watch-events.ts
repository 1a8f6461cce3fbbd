import { decodeText, encodeText } from '@coxswain/kit'

/** The lines of a watch stream; whether one is an event or a bookmark decides who counts it. */
export async function* watchLines(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: Uint8Array; readonly isEvent: boolean }, void, undefined> {
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of body) {
    let bytes: Uint8Array = chunk
    if (rest.length > 0) {
      bytes = new Uint8Array(rest.length + chunk.length)
      bytes.set(rest)
      bytes.set(chunk, rest.length)
    }
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      const line = bytes.subarray(start, end + 1)
      yield { line, isEvent: !decodeText(line.subarray(0, 40)).includes('"BOOKMARK"') }
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
  if (rest.length > 0) yield { line: rest, isEvent: false }
}

/** What a server sends on a watch whose history was compacted. */
export const expiredEvent: Uint8Array = encodeText(
  `${JSON.stringify({
    type: 'ERROR',
    object: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too old resource version',
      reason: 'Expired',
      code: 410,
    },
  })}\n`,
)
