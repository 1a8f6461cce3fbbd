import { isIPv4 } from 'node:net'
import type { Client } from '@coxswain/client'
import type { Env, LogThreshold } from '@coxswain/kit'
import {
  createHealthHandler,
  createMetricsHandler,
  type Manager,
  type RecentReconciles,
  requireAccess,
} from '@coxswain/runtime'
import { createDebugHandler, type EndpointTls, parseBindAddress, serveEndpoint } from '@coxswain/runtime/node'
import { getHeader, type Handler, isTransportError } from '@coxswain/wire'
import { CommandError, explainSystemError } from '../exit.ts'

/** The flags of the metrics, health and pprof servers. */
export interface EndpointFlags {
  readonly metricsBindAddress: string
  readonly metricsSecure: boolean
  readonly metricsCertPath?: string
  readonly metricsCertName: string
  readonly metricsCertKey: string
  readonly healthProbeBindAddress: string
  readonly pprofBindAddress: string
}

export interface EndpointSurroundings {
  readonly manager: Manager
  /** Authorizes readers of metrics and profiles through the API server. */
  readonly client: Client
  readonly env: Env
  readonly reconciles: RecentReconciles
  readonly logLevel: LogThreshold
}

/** Serves the enabled endpoints. Resolves when the ports are bound. */
export async function serveEndpoints(
  flags: EndpointFlags,
  { manager, client, env, reconciles, logLevel }: EndpointSurroundings,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const guard = (handler: Handler): Handler => requireAccess(handler, { client, env })
  const addresses = {
    'metrics-bind-address': flags.metricsBindAddress,
    'health-probe-bind-address': flags.healthProbeBindAddress,
    'pprof-bind-address': flags.pprofBindAddress,
  }
  const { metricsCertPath: path, metricsCertName: name, metricsCertKey: key } = flags
  const tls: EndpointTls = path === undefined ? {} : { files: { path, name, key } }
  const start = async (
    flag: keyof typeof addresses,
    handler: Handler,
    secure?: EndpointTls,
  ): Promise<void> => {
    const text = addresses[flag]
    const address = parseBindAddress(text)
    if (!address) return
    try {
      const served = await serveEndpoint(handler, { env, ...address, ...(secure && { tls: secure }) })
      stack.use(served)
      env.log.info('serving', { what: flag, url: served.url })
    } catch (error) {
      const cause = isTransportError(error) ? (error.cause ?? error) : error
      const unreadable = (cause as NodeJS.ErrnoException).path
      if (unreadable !== undefined)
        throw new CommandError(`--metrics-cert-path: ${unreadable}: ${explainSystemError(cause)}`, {
          cause: error,
        })
      throw new CommandError(`--${flag} ${text}: ${explainSystemError(cause)}`, { cause: error })
    }
  }
  const metrics = createMetricsHandler(manager)
  if (flags.metricsSecure) await start('metrics-bind-address', guard(metrics), tls)
  else await start('metrics-bind-address', metrics)
  await start('health-probe-bind-address', createHealthHandler(manager))
  const pprof = parseBindAddress(flags.pprofBindAddress)
  if (pprof) {
    const { handler } = stack.use(createDebugHandler({ env, reconciles, logLevel }))
    if (isLoopback(pprof.host)) await start('pprof-bind-address', fromLoopback(handler))
    else await start('pprof-bind-address', guard(handler), tls)
  }
  return stack.move()
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** Rejects requests that come from a web page: other Host headers (DNS rebinding), and what browsers mark as cross-site. */
function fromLoopback(handler: Handler): Handler {
  return async request => {
    const host = (getHeader(request.headers, 'host') ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    const site = getHeader(request.headers, 'sec-fetch-site') ?? 'none'
    const isOwn = site === 'none' || site === 'same-origin'
    if (isOwn && isLoopback(host.toLowerCase())) return await handler(request)
    return {
      status: 403,
      headers: { 'content-type': 'text/plain' },
      body: new TextEncoder().encode('forbidden\n'),
    }
  }
}
