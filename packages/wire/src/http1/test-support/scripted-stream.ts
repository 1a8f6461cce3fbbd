import { encodeText } from '@coxswain/kit'
import type { ByteStream } from '../../byte-stream.ts'

/** A peer that sends its lines and closes, and records what it receives. */
export interface ScriptedStream extends ByteStream {
  readonly heard: () => string
  readonly isDestroyed: () => boolean
}

/** `lines` are chunks; promises among them are awaited. Without `stays` the peer closes after the last one. */
export function scriptStream(
  lines: readonly (string | Promise<unknown>)[],
  options: { readonly stays?: boolean } = {},
): ScriptedStream {
  let heard = ''
  const gone = Promise.withResolvers<void>()
  let isDestroyed = false
  return {
    heard: () => heard,
    isDestroyed: () => isDestroyed,
    data: (async function* () {
      for (const line of lines) {
        if (typeof line === 'string') yield encodeText(line)
        else await Promise.race([line, gone.promise])
        if (isDestroyed) return
      }
      if (options.stays) await gone.promise
    })(),
    async write(chunk) {
      if (!isDestroyed) heard += new TextDecoder('latin1').decode(chunk)
    },
    end() {},
    destroy() {
      isDestroyed = true
      gone.resolve()
    },
  }
}
