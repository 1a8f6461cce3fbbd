import { encodeText } from '@coxswain/kit'
import type { ByteStream } from '@coxswain/wire'

/** A server with scripted responses, one connection at a time. */
export interface ScriptedBackend {
  /** The bytes received on each connection, in order. */
  readonly heard: string[]
  /** Which of them the peer has closed. */
  readonly closed: boolean[]
  dial(): Promise<ByteStream>
}

/**
 * `answer` is called after each chunk with everything received on the connection; what it returns is sent
 * once, and `end` at its end closes the connection.
 */
export function createScriptedBackend(
  answer: (heard: string) => { readonly say: string; readonly end?: boolean } | undefined,
): ScriptedBackend {
  const heard: string[] = []
  const closed: boolean[] = []
  return {
    heard,
    closed,
    async dial() {
      const at = heard.length
      heard.push('')
      closed.push(false)
      let received = Promise.withResolvers<void>()
      let said = ''
      const notify = () => {
        received.resolve()
        received = Promise.withResolvers()
      }
      return {
        data: (async function* () {
          while (!closed[at]) {
            const wait = received.promise
            const next = answer(heard[at]!)
            if (next && next.say !== said) {
              said = next.say
              yield encodeText(next.say)
              if (next.end) return
            } else await wait
          }
        })(),
        async write(chunk) {
          if (closed[at]) return
          heard[at] += new TextDecoder('latin1').decode(chunk)
          notify()
        },
        end() {},
        destroy() {
          closed[at] = true
          notify()
        },
      }
    },
  }
}

/** Answers every complete request head with the same response. */
export function always(say: string): Parameters<typeof createScriptedBackend>[0] {
  return heard => (heard.includes('\r\n\r\n') ? { say, end: true } : undefined)
}
