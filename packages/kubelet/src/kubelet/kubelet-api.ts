import { isStatusError } from '@coxswain/apimachinery/status'
import type { PodView } from '@coxswain/kinds'
import { encodeText } from '@coxswain/kit'
import type { ContainerRuntime, LogOptions } from '../container-runtime.ts'
import { NodeStats } from './node-stats.ts'

/** A request to a node, on behalf of the API server's client. */
export interface NodeRequest {
  readonly method: string
  /** Percent-encoded. */
  readonly path: string
  /** Encoded, without the `?`. */
  readonly query: string
  readonly signal: AbortSignal
}

/** The response of a node to a {@link NodeRequest}. */
export interface NodeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
}

type ReadLog = (
  pod: { readonly namespace: string; readonly name: string },
  container: string,
  options: LogOptions & { readonly previous: boolean },
) => Promise<AsyncIterable<Uint8Array>>

export interface KubeletApiOptions {
  readonly node: string
  readonly runtime: ContainerRuntime
  /** The Pods of the node. */
  readonly pods: () => readonly PodView[]
  readonly readLog: ReadLog
}

/** Answers requests to the kubelet's own server, read-only: exec and run go through `NodeConnection`. */
export function createKubeletApi(options: KubeletApiOptions): (request: NodeRequest) => Promise<NodeAnswer> {
  const { node, pods, readLog } = options
  const stats = new NodeStats(options)
  const pages: Readonly<Record<string, () => NodeAnswer | Promise<NodeAnswer>>> = {
    '/configz': () => json({ kubeletconfig: configurationOf() }),
    '/healthz': () => text(200, 'ok'),
    '/healthz/log': () => text(200, 'ok'),
    '/healthz/ping': () => text(200, 'ok'),
    '/healthz/syncloop': () => text(200, 'ok'),
    '/metrics': () => metrics(stats.ownMetrics()),
    '/metrics/cadvisor': async () => metrics(await stats.cadvisorMetrics()),
    '/metrics/probes': () => metrics(''),
    '/metrics/resource': async () => metrics(await stats.resourceMetrics()),
    '/pods': () => json(listOf(pods())),
    '/runningpods': () => json(listOf(pods().filter(isRunning).map(onlyContainers))),
    '/stats/summary': async () => json(await stats.summary(node)),
  }
  return async request => {
    const path = request.path.length > 1 ? request.path.replace(/\/+$/, '') : request.path
    const [, first = '', ...rest] = path.split('/').map(decodeURIComponent)
    const page = pages[path]
    const isLog = first === 'containerLogs' && rest.length === 3
    if (!page && !isLog) return text(404, '404 page not found\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, '405: Method Not Allowed')
    if (page) return await page()
    const [namespace = '', name = '', container = ''] = rest
    try {
      const body = await readLog({ namespace, name }, container, logOptions(request))
      return { status: 200, headers: { 'content-type': 'text/plain' }, body }
    } catch (error) {
      if (!isStatusError(error)) throw error
      return text(error.status.code ?? 500, error.message)
    }
  }
}

function logOptions({ query, signal }: NodeRequest): LogOptions & { readonly previous: boolean } {
  const parameters = new URLSearchParams(query)
  const isSet = (name: string) => parameters.get(name) === 'true'
  const number = (name: string) => {
    const value = parameters.get(name) ?? ''
    return /^\d+$/.test(value) ? Number(value) : undefined
  }
  const tailLines = number('tailLines')
  const limitBytes = number('limitBytes')
  const stream = parameters.get('stream')
  const since = Date.parse(parameters.get('sinceTime') ?? '')
  return {
    follow: isSet('follow'),
    previous: isSet('previous'),
    timestamps: isSet('timestamps'),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
    ...(!Number.isNaN(since) && { since }),
    ...(stream !== null && { stream }),
    signal,
  }
}

/** The fields of a KubeletConfiguration that apply here. */
function configurationOf(): object {
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    port: 10_250,
    maxPods: 110,
    nodeStatusUpdateFrequency: '10s',
    nodeLeaseDurationSeconds: 40,
    failSwapOn: false,
  }
}

const isRunning = ({ status }: PodView): boolean =>
  status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ?? false

/** A Pod as the runtime knows it: its name and its containers. */
function onlyContainers({ metadata: { name, namespace, uid }, spec, status }: PodView): object {
  const running = new Set(
    (status?.containerStatuses ?? []).filter(({ state }) => state?.running).map(({ name: of }) => of),
  )
  const containers = spec.containers.filter(container => running.has(container.name))
  return {
    metadata: { name, namespace, uid },
    spec: { containers: containers.map(container => ({ name: container.name, image: container.image })) },
    status: {},
  }
}

function listOf(items: readonly object[]): object {
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items }
}

function json(value: object): NodeAnswer {
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: encodeText(JSON.stringify(value)) }
}

function metrics(lines: string): NodeAnswer {
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
  return { status: 200, headers, body: encodeText(lines) }
}

function text(status: number, body: string): NodeAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: encodeText(body) }
}
