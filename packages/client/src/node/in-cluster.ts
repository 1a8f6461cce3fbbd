import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHttpTransport } from '@coxswain/wire/node/client'
import { ClientError } from '../errors.ts'
import type { AccessOptions, ClusterAccess } from './cluster-access.ts'
import { withCredentials } from './credentials.ts'
import { tokenFromFile } from './token-file.ts'
import { withUpgrade } from './websocket/upgrade.ts'

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Options of access from within a Pod. */
export interface InClusterOptions extends Pick<AccessOptions, 'env' | 'environment'> {
  /** Where the service account's files are. @default '/var/run/secrets/kubernetes.io/serviceaccount' in $COXSWAIN_ROOT or / */
  readonly folder?: string
}

/** Whether this process runs in a Pod of a cluster. */
export function isInCluster(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return Boolean(environment.KUBERNETES_SERVICE_HOST && environment.KUBERNETES_SERVICE_PORT)
}

/**
 * The access of a Pod to its own cluster: its service account. The token is read again as it is rotated, the CA at each
 * connection. Where containers are processes without a mount namespace, COXSWAIN_ROOT is the directory of their volumes.
 */
export async function accessFromPod(options: InClusterOptions): Promise<ClusterAccess> {
  const {
    env,
    environment = process.env,
    folder = join(environment.COXSWAIN_ROOT || '/', defaultFolder),
  } = options
  if (!isInCluster(environment)) {
    const names = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT'
    throw new ClientError('BadKubeconfig', `this process does not run in a Pod: ${names} are not set`)
  }
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port } = environment
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  const token = tokenFromFile(join(folder, 'token'), env.clock)
  await token.authorization()
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const connection = { server, tls: async () => ({ ca: await read('ca.crt') }) }
  const transport = withUpgrade(createHttpTransport(connection), connection)
  const namespace = await read('namespace').catch(() => '')
  return { server, transport: withCredentials(transport, token), namespace: namespace.trim() || 'default' }
}
