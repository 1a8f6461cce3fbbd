import {
  newBadRequest,
  newGenericServerResponse,
  newInternalError,
  newUnknownError,
  type StatusError,
} from '@coxswain/apimachinery/status'
import { decodeText } from '@coxswain/kit'
import {
  discardBody,
  formatQuery,
  type Http1Response,
  readBody,
  sendHttp1,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { encodePath } from '../outbound/url-path.ts'
import { findKubelet, getNode, type KubeletPorts } from './kubelet.ts'
import { type Backend, backendAt } from './proxy/backend.ts'
import { explain } from './proxy/explain.ts'
import { forwardUpgrade } from './proxy/forward-upgrade.ts'
import { forwardedUpgradeHeaders } from './proxy/proxy-headers.ts'

/** A request to a kubelet on behalf of a client. */
export interface KubeletRequest {
  readonly node: string
  /** Decoded. */
  readonly path: string
  readonly query: Parameters<typeof formatQuery>[0]
}

/** How much of a kubelet's error body is passed on. */
const errorLimit = 50_000

/** The kubelet of a foreign node. Throws a 404 when the node does not exist. */
function kubeletOf(
  ports: KubeletPorts,
  node: string,
  { insecure = false }: { readonly insecure?: boolean } = {},
): Backend {
  const { host, port, tls } = findKubelet(ports, getNode(ports, node, 'pods'))
  const place = { scheme: 'https', address: host, port } as const
  return backendAt(ports.dialer, place, insecure ? { ...tls, insecure } : tls)
}

/** Forwards `exec`, `attach` and `portForward`: the client and the kubelet negotiate a protocol themselves. */
export async function upgradeToKubelet(
  ports: KubeletPorts,
  request: WireRequest,
  asked: KubeletRequest,
): Promise<WireResponse> {
  const headers = forwardedUpgradeHeaders(request)
  const kubelet = kubeletOf(ports, asked.node)
  return await forwardUpgrade(request, kubelet, { target: targetOf(asked), headers })
}

/** The body of a kubelet's response, streamed. Throws the error for the client when there is none. */
export async function readFromKubelet(
  ports: KubeletPorts,
  asked: KubeletRequest,
  { signal, resource, name, insecure }: ReadOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const kubelet = kubeletOf(ports, asked.node, { insecure })
  let answer: Http1Response
  try {
    const headers = { host: kubelet.host, 'accept-encoding': 'identity', 'user-agent': 'kube-apiserver' }
    const request = { method: 'GET', target: targetOf(asked), headers, signal }
    answer = await sendHttp1(await kubelet.dial(), request)
  } catch (error) {
    throw newUnknownError(`Get "https://${kubelet.host}${targetOf(asked)}": ${explain(error, kubelet)}`)
  }
  const { status, body } = answer
  if (status >= 200 && status < 300) return body ?? nothing()
  if (status < 400) {
    await discardBody(body)
    throw newUnknownError(`Get "https://${kubelet.host}${targetOf(asked)}": redirects forbidden`)
  }
  const text = decodeText(await readStart(body))
  throw statusOf(status, text, resource, name)
}

interface ReadOptions {
  readonly signal: AbortSignal
  /** The object that errors are about. */
  readonly resource: string
  readonly name: string
  /** Accepts any certificate. */
  readonly insecure: boolean
}

/** A kubelet's error as an API server error. */
function statusOf(code: number, text: string, resource: string, name: string): StatusError {
  if (code === 500) return newInternalError(text)
  if (code === 400) return newBadRequest(text)
  const about = { group: '', resource }
  return newGenericServerResponse({
    code,
    verb: '',
    resource: about,
    name,
    serverMessage: text,
    unexpected: false,
  })
}

async function readStart(body: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  if (!body) return new Uint8Array()
  const start = (async function* () {
    let left = errorLimit
    for await (const chunk of body) {
      yield chunk.subarray(0, left)
      left -= chunk.length
      if (left <= 0) return
    }
  })()
  return await readBody(start)
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

function targetOf({ path, query }: KubeletRequest): string {
  const text = formatQuery(query)
  return text === '' ? encodePath(path) : `${encodePath(path)}?${text}`
}
