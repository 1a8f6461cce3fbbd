import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { createApiServer } from '@coxswain/apiserver'
import { createKubeconfig, writeKubeconfig } from '@coxswain/client/kubeconfig'
import { type Env, TaskGroup } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import { createInProcessTransport, type PeerCertificate } from '@coxswain/wire'
import { createWebSocketUpgrade, serve } from '@coxswain/wire/node'
import { CommandError, explainSystemError } from '../exit.ts'
import { stopOnSignals } from '../signals.ts'
import { createAuthentication, createAuthorization } from './access.ts'
import { serveControlSocket } from './control-socket.ts'
import type { ControllerName } from './controller-names.ts'
import { socketOutbound } from './outbound.ts'
import { ensurePki, type Pki } from './pki.ts'
import type { UpOptions } from './up.ts'

/** Who the control loops and operators in this process are to the API server. */
const insider: PeerCertificate = {
  commonName: 'system:coxswain',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** Reserved for documentation: what a machine without a network advertises. */
const unreachableAddress = '192.0.2.1'

export interface ControlPlane {
  readonly options: UpOptions
  readonly dataDir: string
  readonly env: Env
  readonly controllers: readonly ControllerName[]
  /** Being opened while this module is loaded. */
  readonly opening: Promise<Store>
}

/** Serves until a signal stops it; resolves when everything has stopped. */
export async function runControlPlane({
  options,
  dataDir,
  env,
  controllers,
  opening,
}: ControlPlane): Promise<void> {
  const pki = ensurePki(join(dataDir, 'pki'), env)
  await using store = await opening
  const server = createApiServer({
    env,
    store,
    authenticators: createAuthentication(options),
    authorizer: createAuthorization(options.authorizationMode),
    outbound: socketOutbound,
    serviceClusterIpRange: options.serviceClusterIpRange,
    advertise: async () => ({ address: chooseAddress(), port: await boundPort }),
  })
  await using group = new TaskGroup()
  stopOnSignals(group)
  group.spawn(signal => server.run(signal))
  const listening = listen(options.port, server.handler, pki, env)
  const boundPort = listening.then(({ port }) => port).catch(() => options.port)
  await using http = await listening
  await server.ready
  await using _control = await serveControlSocket(dataDir, store)
  const kubeconfig = await writeAdminKubeconfig(options, dataDir, http.url, pki)
  const sayReady = () =>
    process.stdout.write(`coxswain is ready at ${http.url}, run: export KUBECONFIG=${kubeconfig}\n`)
  // The framework is loaded when the server answers already; with operators, ready means that their kinds are there too.
  const files = options.operator ?? []
  if (files.length === 0) sayReady()
  if (controllers.length > 0 || files.length > 0) {
    const [{ startControlLoops }, { loadOperators }] = await Promise.all([
      import('./control-loops.ts'),
      import('../operators.ts'),
    ])
    const operators = await loadOperators(files)
    const connect = () => createInProcessTransport(server.handler, env, { peer: insider })
    const { nodes } = options
    await startControlLoops({
      connect,
      env,
      group,
      operators,
      controllers,
      nodes,
      rootCa: pki.ca.certificate,
    })
  }
  if (files.length > 0) sayReady()
  await group.join()
}

/** This machine's first address that is not a loopback one; endpoints may not hold those. */
function chooseAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap(of => of ?? [])
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  return found?.address ?? unreachableAddress
}

async function writeAdminKubeconfig(
  options: UpOptions,
  dataDir: string,
  url: string,
  pki: Pki,
): Promise<string> {
  const file = resolve(options.kubeconfig ?? join(dataDir, 'kubeconfig'))
  const { certificate: cert, key } = pki.admin
  const entry = { cluster: 'coxswain', user: 'admin', server: url, ca: pki.ca.certificate, cert, key }
  await writeKubeconfig(file, createKubeconfig(entry))
  return file
}

async function listen(port: number, handler: Parameters<typeof serve>[0]['handler'], pki: Pki, env: Env) {
  try {
    const { certificate: cert, key } = pki.server
    return await serve({
      handler,
      port,
      tls: { cert, key, clientCa: pki.ca.certificate },
      log: env.log,
      upgrade: createWebSocketUpgrade({ handler, log: env.log }),
    })
  } catch (error) {
    throw new CommandError(
      `port ${port} of 127.0.0.1 ${explainSystemError(error)}; choose another with --port, or 0 for any`,
      { cause: error },
    )
  }
}
