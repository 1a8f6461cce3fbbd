import { decodeText, type Env, untilAborted } from '@coxswain/kit'
import { discardBody, readBody } from '@coxswain/wire'
import type { Outbound } from '../../outbound/outbound.ts'

export interface FetchOptions {
  readonly env: Env
  readonly outbound: Outbound
  /** PEM of the CAs that the other server's certificate is verified with. @default the platform's */
  readonly ca?: string
}

const timeout = 30_000
const answerLimit = 1 << 20

/** The body at an https URL. Throws an Error for anything but a 200; redirects are not followed. */
export async function fetchText(
  { env, outbound, ca }: FetchOptions,
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { origin, pathname, search, protocol } = new URL(address)
  if (protocol !== 'https:') throw new Error(`${address} is not an https URL`)
  await using transport = outbound.connect({ origin, ...(ca !== undefined && { ca }) })
  const controller = new AbortController()
  const late = () => controller.abort(new Error(`${address} did not answer in time`))
  const timer = env.clock.after(timeout, late)
  try {
    const { signal } = controller
    const request = {
      method: 'GET',
      path: pathname,
      query: search.slice(1),
      headers: { accept: 'application/json', 'user-agent': 'kube-apiserver', ...headers },
      signal,
    }
    const answer = await untilAborted(transport.send(request), signal)
    if (answer.status !== 200) {
      await discardBody(answer.body)
      throw new Error(`${address} answered ${answer.status}`)
    }
    return decodeText(await untilAborted(readBody(answer.body, answerLimit), signal))
  } finally {
    timer.cancel()
  }
}
