import { readFile } from 'node:fs/promises'
import { loadKubeconfig } from '@coxswain/client/kubeconfig'

/** How a load generator reaches a server; plain data, since it goes to another process. */
export interface Access {
  readonly host: string
  readonly port: number
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
}

/** The current context of a kubeconfig: client certificates and tokens. */
export async function readAccess(path: string): Promise<Access> {
  const { config } = await loadKubeconfig({ path })
  const name = config['current-context']
  const context = config.contexts?.find(each => each.name === name)?.context
  const cluster = config.clusters?.find(each => each.name === context?.cluster)?.cluster
  const user = config.users?.find(each => each.name === context?.user)?.user
  if (!cluster?.server) throw new Error(`${path}: the current context has no server`)
  const url = new URL(cluster.server)
  const read = async (data: string | undefined, file: string | undefined) =>
    data === undefined ? file && (await readFile(file, 'utf8')) : Buffer.from(data, 'base64').toString()
  const ca = await read(cluster['certificate-authority-data'], cluster['certificate-authority'])
  const cert = await read(user?.['client-certificate-data'], user?.['client-certificate'])
  const key = await read(user?.['client-key-data'], user?.['client-key'])
  const token = user?.token
  return {
    host: url.hostname,
    port: Number(url.port || 443),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(token && { token }),
  }
}
