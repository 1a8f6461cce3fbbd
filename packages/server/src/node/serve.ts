import type { ApiServer } from '@coxswain/apiserver'
import { createYamlThread } from '@coxswain/apiserver/node'
import type { Client } from '@coxswain/client'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import {
  createCertificate,
  createWebSocketUpgrade,
  type HttpServer,
  nodeCompression,
  serve,
} from '@coxswain/wire/node'
import { type ApiServerDefinition, createOwnApiServer, type OwnServerOptions } from '../define-api-server.ts'
import { delegateTo } from '../delegation.ts'
import { readRequestHeaders } from './request-headers.ts'

/** Options of {@link serveApiServer}. */
export interface ServeApiServerOptions extends Omit<OwnServerOptions, 'delegation'> {
  /** A client of the cluster whose aggregator the server stands behind; its user needs `system:auth-delegator`. @default none: alone */
  readonly cluster?: Pick<Client, 'get' | 'create'>
  /** @default 127.0.0.1 */
  readonly host?: string
  /** @default a free one */
  readonly port?: number
  /** PEM. @default a certificate of its own for `host` and localhost */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string }
}

/** A server that serves. */
export interface ServedApiServer extends AsyncDisposable {
  readonly server: ApiServer
  readonly url: string
  readonly port: number
  /** PEM of the certificate that clients verify: the `caBundle` of the APIService. */
  readonly certificate: string
}

const validity = 365 * 24 * 3_600_000

/** Serves a definition over TLS, alone or behind the aggregator of a cluster, and resolves when it is ready. */
export async function serveApiServer(
  definition: ApiServerDefinition,
  options: ServeApiServerOptions = {},
): Promise<ServedApiServer> {
  const { cluster, host = '127.0.0.1', port = 0, tls: given, ...rest } = options
  const env = rest.env ?? createRealEnv()
  const trusted = cluster && (await readRequestHeaders(cluster))
  const delegation =
    cluster &&
    trusted &&
    delegateTo({ client: cluster, clock: env.clock, requestHeader: trusted.requestHeader })
  const server = createOwnApiServer(definition, {
    ...rest,
    env,
    ...(delegation && { delegation }),
    platform: { compression: nodeCompression, readLargeYaml: createYamlThread(), ...rest.platform },
  })
  const tls = given ?? selfSigned(host)
  const clientCa = given?.clientCa ?? trusted?.clientCa
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await server.ready
  const listener: HttpServer = await serve({
    handler: server.handler,
    host,
    port,
    tls: { cert: tls.cert, key: tls.key, ...(clientCa !== undefined && { clientCa }) },
    log: env.log,
    upgrade: createWebSocketUpgrade({ handler: server.handler, log: env.log }),
  })
  return {
    server,
    url: listener.url,
    port: listener.port,
    certificate: tls.cert,
    async [Symbol.asyncDispose]() {
      server.drain()
      await listener.close({ grace: 1_000 })
      group.abort()
      await group.join()
    },
  }

  function selfSigned(name: string): { readonly cert: string; readonly key: string } {
    const now = env.clock.now()
    const { certificate, key } = createCertificate(
      {
        subject: { commonName: name },
        usages: ['server'],
        hosts: [...new Set([name, 'localhost', '127.0.0.1'])],
        notBefore: now - 60_000,
        notAfter: now + validity,
      },
      env.random,
    )
    return { cert: certificate, key }
  }
}
