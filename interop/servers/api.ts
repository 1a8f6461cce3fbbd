import { readBody } from '@coxswain/wire'
import { createHttpTransport, type HttpTransport } from '@coxswain/wire/node'
import { readKubeconfig } from '../support/kubeconfig.ts'

/** An object as far as these tests look into it. */
export interface Item {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly body: Item & { readonly items?: readonly Item[]; readonly code?: number; readonly reason?: string }
}

export interface Event {
  readonly type: string
  readonly object: Item & { readonly code?: number }
}

/** One server, as its administrator sees it. Requests are sent once: what happens to them is what these tests are about. */
export class Api implements AsyncDisposable {
  readonly #transport: HttpTransport

  constructor(kubeconfig: string) {
    const { url, ca, cert, key } = readKubeconfig(kubeconfig)
    this.#transport = createHttpTransport({ server: url, tls: { ca, cert, key } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]()
  }

  /** Rejects when there is no answer. */
  async send(method: string, target: string, body?: unknown): Promise<Answer> {
    const response = await this.#transport.send(
      request(method, target, { body, signal: AbortSignal.timeout(30_000) }),
    )
    const bytes = await readBody(response.body)
    return { status: response.status, body: JSON.parse(new TextDecoder().decode(bytes) || '{}') }
  }

  /** The events of one stream; ends when the server ends it, throws when it breaks. */
  async *watch(target: string, signal: AbortSignal): AsyncGenerator<Event> {
    const response = await this.#transport.send(request('GET', target, { signal }))
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      const lines = text.split('\n')
      text = lines.pop()!
      for (const line of lines) if (line !== '') yield JSON.parse(line) as Event
    }
  }
}

function request(method: string, target: string, options: { body?: unknown; signal: AbortSignal }) {
  const [path = '', query = ''] = target.split('?')
  const { body, signal } = options
  return {
    method,
    path,
    query,
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'servers/1' },
    ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
    signal,
  }
}
