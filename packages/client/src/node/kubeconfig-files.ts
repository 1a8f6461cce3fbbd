import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { readYaml, writeYaml } from '@coxswain/apimachinery/yaml'
import { ClientError } from '../errors.ts'
import { type Kubeconfig, mergeKubeconfigs } from './kubeconfig.ts'

/** Which kubeconfig files to load. */
export interface LoadKubeconfigOptions {
  /** One file, which must exist. @default those of `KUBECONFIG`, else `~/.kube/config` */
  readonly path?: string
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** The merged kubeconfig files. */
export interface LoadedKubeconfig {
  /** Paths in it are absolute. */
  readonly config: Kubeconfig
  /** The files that were read, without missing ones. */
  readonly files: readonly string[]
  /** The file that a user's entry comes from. */
  readonly userFiles: ReadonlyMap<string, string>
}

/** Reads and merges kubeconfig files. A missing file counts as empty, unless `path` names it. */
export async function loadKubeconfig(options: LoadKubeconfigOptions = {}): Promise<LoadedKubeconfig> {
  const configs: Kubeconfig[] = []
  const files: string[] = []
  const userFiles = new Map<string, string>()
  for (const path of kubeconfigPaths(options)) {
    const config = await readKubeconfigFile(path, options.path === undefined)
    if (!config) continue
    configs.push(config)
    files.push(path)
    for (const { name } of config.users ?? []) if (!userFiles.has(name)) userFiles.set(name, path)
  }
  return { config: mergeKubeconfigs(configs), files, userFiles }
}

function kubeconfigPaths({ path, environment = process.env }: LoadKubeconfigOptions): string[] {
  if (path !== undefined) return [resolve(path)]
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter(entry => entry !== '')
  if (listed.length > 0) return listed.map(entry => resolve(entry))
  return [join(environment.HOME ?? homedir(), '.kube', 'config')]
}

async function readKubeconfigFile(path: string, mayBeMissing: boolean): Promise<Kubeconfig | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if (mayBeMissing && (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ClientError('BadKubeconfig', `cannot read ${path}: ${(cause as Error).message}`, { cause })
  }
  return parseKubeconfig(text, path)
}

/** Reads the text of a kubeconfig. Relative paths in it are relative to the directory of `path`. */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  let value: unknown
  try {
    value = readYaml(text)?.value
  } catch (cause) {
    throw new ClientError('BadKubeconfig', `${path}: ${(cause as Error).message}`, { cause })
  }
  const config = (value ?? {}) as Kubeconfig
  const bad = (what: string) => new ClientError('BadKubeconfig', `${path}: ${what}`)
  if (typeof config !== 'object' || Array.isArray(config)) throw bad('is no kubeconfig')
  if (config.kind !== undefined && config.kind !== 'Config')
    throw bad(`has kind ${JSON.stringify(config.kind)}`)
  for (const list of ['clusters', 'contexts', 'users'] as const) {
    const entries = config[list] ?? []
    if (!Array.isArray(entries)) throw bad(`${list} must be a list`)
    const member = list.slice(0, -1) as 'cluster'
    for (const entry of entries) {
      if (typeof entry?.name !== 'string') throw bad(`an entry of ${list} has no name`)
      ;(entry as { cluster?: unknown })[member] ??= {}
    }
  }
  return makeAbsolute(config, dirname(path))
}

function makeAbsolute(config: Kubeconfig, folder: string): Kubeconfig {
  const absolute = <T extends object>(holder: T, ...members: (keyof T)[]) => {
    for (const member of members) {
      const path = holder[member]
      if (typeof path === 'string' && path !== '' && !isAbsolute(path)) {
        holder[member] = join(folder, path) as T[typeof member]
      }
    }
  }
  for (const { cluster } of config.clusters ?? []) absolute(cluster, 'certificate-authority')
  for (const { user } of config.users ?? []) {
    absolute(user, 'client-certificate', 'client-key', 'tokenFile')
    // A bare command is looked up in PATH, as in a shell.
    if (user.exec?.command?.includes('/')) absolute(user.exec, 'command')
  }
  return config
}

/** Replaces the file atomically; only its owner may read it. */
export async function writeKubeconfig(path: string, config: Kubeconfig): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  await writeFile(temporary, writeYaml(config), { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

/** A cluster, user and context to add to a kubeconfig. */
export interface KubeconfigEntry {
  /** The name of the cluster, and of the context unless `context` is set. */
  readonly cluster: string
  readonly user: string
  readonly context?: string
  readonly server: string
  /** What the server's certificate is checked for. @default the host of `server` */
  readonly serverName?: string
  /** PEM. */
  readonly ca?: string
  /** PEM. */
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  readonly namespace?: string
}

/** A kubeconfig for one cluster and one user, with all data inline. */
export function createKubeconfig(entry: KubeconfigEntry): Kubeconfig {
  const { cluster, user, context = cluster, server, serverName, ca, cert, key, token, namespace } = entry
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: cluster,
        cluster: {
          server,
          ...(serverName && { 'tls-server-name': serverName }),
          ...(ca && { 'certificate-authority-data': base64(ca) }),
        },
      },
    ],
    users: [
      {
        name: user,
        user: {
          ...(cert && { 'client-certificate-data': base64(cert) }),
          ...(key && { 'client-key-data': base64(key) }),
          ...(token && { token }),
        },
      },
    ],
    contexts: [{ name: context, context: { cluster, user, ...(namespace && { namespace }) } }],
    'current-context': context,
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
