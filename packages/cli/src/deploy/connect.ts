import { isStatusError } from '@coxswain/apimachinery/status'
import { type Client, isClientError } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createRealEnv, type Env } from '@coxswain/kit'
import { isProjectError } from '@coxswain/project/files'
import { isTransportError } from '@coxswain/wire'
import { CommandError, explainSystemError } from '../exit.ts'
import { explainKubeconfigError } from '../kubeconfig/kubeconfig-error.ts'
import type { ClusterOptions } from './options.ts'

/** A cluster that a command talks to. */
export interface Connection {
  readonly client: Client
  readonly env: Env
  /** The one that was named, else that of the context. */
  readonly namespace: string
}

/** Runs `work` with a client of the chosen cluster. What the user can mend is one line. */
export async function withCluster<T>(
  { kubeconfig, context, namespace }: ClusterOptions,
  work: (connection: Connection) => Promise<T>,
  userAgent = 'coxswain-deploy/0.1',
): Promise<T> {
  const env = createRealEnv()
  let server = 'the server'
  try {
    await using connected = await createClientFromKubeconfig({
      env,
      userAgent,
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    })
    server = connected.server
    return await work({ client: connected.client, env, namespace: namespace ?? connected.namespace })
  } catch (error) {
    if (isClientError(error, 'BadKubeconfig')) throw explainKubeconfigError(error, kubeconfig)
    if (isStatusError(error) || isClientError(error) || isProjectError(error))
      throw new CommandError(error.message, { cause: error })
    if (isTransportError(error))
      throw new CommandError(`${server} cannot be reached: ${explainSystemError(error)}`, { cause: error })
    throw error
  }
}
