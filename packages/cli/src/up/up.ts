import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createApiServer } from '@coxswain/apiserver'
import { createClient } from '@coxswain/client'
import { createKubeconfig, writeKubeconfig } from '@coxswain/client/node'
import { createRealEnv, type Env, type LogLevel, TaskGroup } from '@coxswain/kit'
import { createPinoLogger } from '@coxswain/kit/node'
import { createInProcessTransport, type PeerCertificate } from '@coxswain/wire'
import { serve } from '@coxswain/wire/node'
import { CommandError, explainSystemError } from '../exit.ts'
import { loadOperators } from '../operators.ts'
import { stopOnSignals } from '../signals.ts'
import { type AuthorizationMode, createAuthentication, createAuthorization } from './access.ts'
import { selectControllers, startControlLoops } from './control-loops.ts'
import { ensurePki, type Pki } from './pki.ts'
import { openStore, type StoreOptions } from './store.ts'

export interface UpOptions extends StoreOptions {
  readonly port: number
  readonly dataDir: string
  readonly kubeconfig?: string
  readonly controllers: readonly string[]
  readonly nodes: number
  readonly operator?: readonly string[]
  readonly authorizationMode: AuthorizationMode
  readonly tokenAuthFile?: string
  readonly logLevel: LogLevel
}

/** Who the control loops and operators in this process are to the API server. */
const insider: PeerCertificate = {
  commonName: 'system:coxswain',
  organizations: ['system:masters'],
  notAfter: Number.MAX_SAFE_INTEGER,
}

/** Starts everything and resolves when it has stopped again. */
export async function runUp(options: UpOptions): Promise<void> {
  const env = createRealEnv(createPinoLogger({ level: options.logLevel }))
  selectControllers(options.controllers)
  const operators = await loadOperators(options.operator ?? [])
  const dataDir = resolve(options.dataDir)
  const pki = preparePki(dataDir, env)
  await using store = await openStore(options, dataDir, env)
  const server = createApiServer({
    env,
    store,
    authenticators: createAuthentication(options),
    authorizer: createAuthorization(options.authorizationMode),
  })
  await using group = new TaskGroup()
  stopOnSignals(group)
  group.spawn(signal => server.run(signal))
  await using http = await listen(options.port, server.handler, pki, env)
  await server.ready

  const kubeconfig = resolve(options.kubeconfig ?? join(dataDir, 'kubeconfig'))
  const { certificate: cert, key } = pki.admin
  const entry = { cluster: 'coxswain', user: 'admin', server: http.url, ca: pki.ca.certificate, cert, key }
  await writeKubeconfig(kubeconfig, createKubeconfig(entry))
  const connect = (userAgent: string) =>
    createClient({
      env,
      userAgent,
      transport: createInProcessTransport(server.handler, env, { peer: insider }),
    })
  await startControlLoops({
    connect,
    env,
    group,
    operators,
    controllers: options.controllers,
    nodes: options.nodes,
    rootCa: pki.ca.certificate,
  })
  process.stdout.write(`coxswain is ready at ${http.url}, run: export KUBECONFIG=${kubeconfig}\n`)
  await group.join()
}

function preparePki(dataDir: string, env: Env): Pki {
  try {
    mkdirSync(dataDir, { recursive: true })
    const probe = join(dataDir, '.writable')
    writeFileSync(probe, '')
    rmSync(probe)
    return ensurePki(join(dataDir, 'pki'), env)
  } catch (error) {
    throw new CommandError(`the data directory ${dataDir} cannot be used: ${explainSystemError(error)}`, {
      cause: error,
    })
  }
}

async function listen(port: number, handler: Parameters<typeof serve>[0]['handler'], pki: Pki, env: Env) {
  try {
    const { certificate: cert, key } = pki.server
    return await serve({ handler, port, tls: { cert, key, clientCa: pki.ca.certificate }, log: env.log })
  } catch (error) {
    throw new CommandError(
      `port ${port} of 127.0.0.1 ${explainSystemError(error)}; choose another with --port, or 0 for any`,
      { cause: error },
    )
  }
}
