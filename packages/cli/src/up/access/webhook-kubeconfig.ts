import { resolve } from 'node:path'
import type { Target } from '@coxswain/apiserver'
import { parseKubeconfig } from '@coxswain/client/kubeconfig'
import { CommandError, explainSystemError } from '../../exit.ts'
import { readBoundedFile } from '../../host/flag-file.ts'
import { readPem } from '../../host/read-pem.ts'

/** The server and credentials of a kubeconfig file for webhooks. */
export interface WebhookServer {
  readonly target: Target
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Reads the current context of a file; its server may have a path. Throws a CommandError that names `flag`. */
export function readWebhookKubeconfig(flag: string, file: string): WebhookServer {
  try {
    const config = parseKubeconfig(readBoundedFile(file), resolve(file))
    const current = config['current-context'] ?? ''
    // Upstream also accepts a file without contexts: then there is one cluster and one user.
    const context = config.contexts?.find(({ name }) => name === current)?.context
    if (!context && config.contexts?.length)
      throw new Error(`context ${JSON.stringify(current)} does not exist`)
    const cluster = pick(config.clusters, context?.cluster)?.cluster
    const user = pick(config.users, context?.user)?.user ?? {}
    if (!cluster?.server) throw new Error('has no server')
    const { origin, pathname } = new URL(cluster.server)
    const ca = readPem(cluster['certificate-authority-data'], cluster['certificate-authority'])
    const cert = readPem(user['client-certificate-data'], user['client-certificate'])
    const key = readPem(user['client-key-data'], user['client-key'])
    const serverName = cluster['tls-server-name']
    const target = {
      origin,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(serverName && { serverName }),
      ...(cluster['insecure-skip-tls-verify'] && { insecure: true }),
    }
    return { target, path: pathname, headers: credentialsOf(user) }
  } catch (error) {
    const reason = explainSystemError(error).replace(`${resolve(file)}: `, '')
    throw new CommandError(`--${flag} ${file}: ${reason}`, { cause: error })
  }
}

function pick<T extends { readonly name: string }>(
  entries: readonly T[] = [],
  name: string | undefined,
): T | undefined {
  return name === undefined ? entries[0] : entries.find(entry => entry.name === name)
}

interface Credentials {
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
}

function credentialsOf({ token, tokenFile, username, password = '' }: Credentials): Record<string, string> {
  const bearer = token || (tokenFile && readBoundedFile(tokenFile).trim())
  if (bearer) return { authorization: `Bearer ${bearer}` }
  if (!username) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}
