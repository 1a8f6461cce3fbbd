import { readFile } from 'node:fs/promises'
import type { Env } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'
import { type ClientTls, createHttpTransport, type HttpTransport } from '@coxswain/wire/node/client'
import type { Impersonation } from '../create-client.ts'
import { ClientError } from '../errors.ts'
import { basicAuth, type Credentials, noCredentials, staticToken, withCredentials } from './credentials.ts'
import { execPlugin } from './exec-plugin.ts'
import { type ContextEntries, type KubeconfigUser, selectContext } from './kubeconfig.ts'
import { type LoadedKubeconfig, parseKubeconfig, writeKubeconfig } from './kubeconfig-files.ts'
import { oidcCredentials } from './oidc.ts'
import { proxyFromEnvironment } from './proxy-environment.ts'
import { tokenFromFile } from './token-file.ts'
import { withUpgrade } from './websocket/upgrade.ts'

/** The connection to one cluster as one user. */
export interface ClusterAccess {
  readonly server: string
  readonly transport: Transport
  /** The default namespace. */
  readonly namespace: string
  readonly impersonate?: Impersonation
}

/** Which cluster and user to use. */
export interface AccessOptions {
  readonly env: Env
  /** @default the kubeconfig's current one */
  readonly context?: string
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** The access that a context of a kubeconfig describes. Opens no connection yet. */
export async function accessFromKubeconfig(
  loaded: LoadedKubeconfig,
  options: AccessOptions,
): Promise<ClusterAccess> {
  const { environment = process.env } = options
  const entries = selectContext(loaded.config, options.context)
  const { cluster, context, user } = entries
  if (!cluster.server) throw new ClientError('BadKubeconfig', `cluster ${entries.clusterName} has no server`)
  const server = cluster.server.includes('://') ? cluster.server : `http://${cluster.server}`
  const tls = await readTls(entries)
  const proxy = cluster['proxy-url'] || proxyFromEnvironment(new URL(server), environment)
  // The plug-in needs the transport to renew its connections, and the transport the plug-in's certificate.
  let transport: HttpTransport | undefined
  const credentials = credentialsOf(entries, loaded, { ...options, environment }, () => transport?.reset())
  const { certificate } = credentials
  const connection = {
    server,
    tls: certificate ? async () => ({ ...tls, ...(await certificate()) }) : tls,
    ...(proxy && { proxy }),
  }
  transport = createHttpTransport(connection)
  const upgrading = withUpgrade(transport, connection)
  const impersonate = impersonationOf(user)
  return {
    server,
    transport: credentials === noCredentials ? upgrading : withCredentials(upgrading, credentials),
    namespace: context.namespace || 'default',
    ...(impersonate && { impersonate }),
  }
}

async function readTls({ cluster, user }: ContextEntries): Promise<ClientTls> {
  const ca = await dataOrFile(cluster['certificate-authority-data'], cluster['certificate-authority'])
  const cert = await dataOrFile(user['client-certificate-data'], user['client-certificate'])
  const key = await dataOrFile(user['client-key-data'], user['client-key'])
  if ((cert === undefined) !== (key === undefined)) {
    throw new ClientError('BadKubeconfig', 'a client certificate needs its key, and the key its certificate')
  }
  const insecure = cluster['insecure-skip-tls-verify'] === true
  if (insecure && ca !== undefined) {
    throw new ClientError(
      'BadKubeconfig',
      'a CA certificate and insecure-skip-tls-verify contradict each other',
    )
  }
  return {
    insecure,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(cluster['tls-server-name'] && { serverName: cluster['tls-server-name'] }),
  }
}

async function dataOrFile(data: string | undefined, path: string | undefined): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8')
  if (!path) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ClientError('BadKubeconfig', `cannot read ${path}: ${(cause as Error).message}`, { cause })
  }
}

/** The credentials of a user, with client-go's precedence. */
function credentialsOf(
  entries: ContextEntries,
  loaded: LoadedKubeconfig,
  options: AccessOptions & Required<Pick<AccessOptions, 'environment'>>,
  onNewCertificate: () => void,
): Credentials {
  const { user, userName, cluster } = entries
  const { clock } = options.env
  if (user.exec)
    return execPlugin({ exec: user.exec, cluster, clock, environment: options.environment, onNewCertificate })
  if (user.tokenFile) return tokenFromFile(user.tokenFile, clock)
  if (user.token) return staticToken(user.token)
  if (user.username) return basicAuth(user.username, user.password ?? '')
  const provider = user['auth-provider']
  if (!provider) return noCredentials
  if (provider.name !== 'oidc') {
    throw new ClientError(
      'BadKubeconfig',
      `user ${userName}: no auth-provider ${JSON.stringify(provider.name)}; use exec`,
    )
  }
  const file = loaded.userFiles.get(userName)
  return oidcCredentials({
    config: provider.config ?? {},
    clock,
    onRefresh: async changed => {
      if (file !== undefined) await keepTokens(file, userName, changed)
    },
  })
}

/** Writes renewed tokens back to the file they came from: the old refresh token may not work a second time. */
async function keepTokens(
  file: string,
  userName: string,
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const config = parseKubeconfig(await readFile(file, 'utf8'), file)
  const provider = config.users?.find(({ name }) => name === userName)?.user['auth-provider']
  if (!provider) return
  provider.config = { ...provider.config, ...changed }
  await writeKubeconfig(file, config)
}

function impersonationOf(user: KubeconfigUser): Impersonation | undefined {
  if (!user.as) return undefined
  return {
    user: user.as,
    ...(user['as-uid'] && { uid: user['as-uid'] }),
    ...(user['as-groups'] && { groups: user['as-groups'] }),
    ...(user['as-user-extra'] && { extra: user['as-user-extra'] }),
  }
}
