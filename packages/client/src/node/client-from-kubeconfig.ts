import { createRealEnv, type Env } from '@coxswain/kit'
import type { Transport } from '@coxswain/wire'
import type { Client } from '../client.ts'
import { type ClientOptions, createClient } from '../create-client.ts'
import { ClientError } from '../errors.ts'
import { accessFromKubeconfig, type ClusterAccess } from './cluster-access.ts'
import { accessFromPod, isInCluster } from './in-cluster.ts'
import { loadKubeconfig } from './kubeconfig-files.ts'

/** Options of a client from a kubeconfig. */
export interface KubeconfigClientOptions extends Omit<ClientOptions, 'transport' | 'env'> {
  /** @default the real one */
  readonly env?: Env
  /** A kubeconfig file. @default `KUBECONFIG`, `~/.kube/config`, then the Pod's service account */
  readonly kubeconfig?: string
  /** @default the kubeconfig's current one */
  readonly context?: string
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** A client and its connection. Disposing it closes its connections. */
export interface ConnectedClient extends AsyncDisposable {
  readonly client: Client
  readonly transport: Transport
  readonly server: string
  /** The context's namespace. */
  readonly namespace: string
}

/** A client for the cluster that kubectl would use. Opens no connection yet. */
export async function createClientFromKubeconfig(
  options: KubeconfigClientOptions = {},
): Promise<ConnectedClient> {
  const { env = createRealEnv(), kubeconfig, context, environment = process.env, ...rest } = options
  const access = await findAccess(env, { kubeconfig, context, environment })
  const { transport, server, namespace, impersonate } = access
  return {
    client: createClient({ ...(impersonate && { impersonate }), ...rest, transport, env }),
    transport,
    server,
    namespace,
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

interface Where {
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
}

async function findAccess(env: Env, { kubeconfig, context, environment }: Where): Promise<ClusterAccess> {
  const loaded = await loadKubeconfig({ environment, ...(kubeconfig !== undefined && { path: kubeconfig }) })
  if (loaded.files.length > 0) {
    return accessFromKubeconfig(loaded, { env, environment, ...(context !== undefined && { context }) })
  }
  if (isInCluster(environment)) return accessFromPod({ env, environment })
  throw new ClientError(
    'BadKubeconfig',
    'there is no kubeconfig file, and this process does not run in a Pod',
  )
}
