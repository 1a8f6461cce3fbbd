import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { isStatusError } from '@coxswain/apimachinery/status'
import { isClientError } from '@coxswain/client'
import { createClientFromKubeconfig, loadKubeconfig } from '@coxswain/client/node'
import { type ReadDefinition, readDefinition } from '@coxswain/project/definitions'
import { isTransportError } from '@coxswain/wire'
import { CommandError } from '../exit.ts'
import { explainKubeconfigError } from '../kubeconfig/kubeconfig-error.ts'

/** Which cluster. */
export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

/** All CRDs of a cluster. */
export async function definitionsFromCluster({
  kubeconfig,
  context,
}: ClusterFlags): Promise<ReadDefinition[]> {
  try {
    await using connected = await createClientFromKubeconfig({
      userAgent: 'coxswain-types/0.1',
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    })
    const found: ReadDefinition[] = []
    for await (const crd of connected.client.listAll(CustomResourceDefinition))
      found.push(
        readDefinition({ ...crd, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }),
      )
    return found
  } catch (error) {
    if (isClientError(error, 'BadKubeconfig')) throw explainKubeconfigError(error, kubeconfig)
    if (isStatusError(error) || isTransportError(error))
      throw new CommandError(`the cluster: ${error.message}`, { cause: error })
    throw error
  }
}

/** The context of the kubeconfig for a server's address, which has its credentials. */
export async function contextForServer(url: string, { kubeconfig }: ClusterFlags): Promise<string> {
  const { config } = await loadKubeconfig(kubeconfig === undefined ? {} : { path: kubeconfig }).catch(
    (error: unknown) => {
      throw explainKubeconfigError(error, kubeconfig)
    },
  )
  const address = (server: string | undefined) => server?.replace(/\/+$/, '')
  const clusters = new Set(
    (config.clusters ?? []).flatMap(({ name, cluster }) =>
      address(cluster?.server) === address(url) ? [name] : [],
    ),
  )
  const found = (config.contexts ?? []).find(({ context }) => clusters.has(context?.cluster ?? ''))
  if (found) return found.name
  throw new CommandError(`${url}: no context of the kubeconfig has credentials for this server`)
}
