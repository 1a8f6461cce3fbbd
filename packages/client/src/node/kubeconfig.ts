import { ClientError } from '../errors.ts'

/** A kubeconfig file. Unknown members are kept. */
export interface Kubeconfig {
  apiVersion?: string
  kind?: string
  'current-context'?: string
  clusters?: NamedCluster[]
  contexts?: NamedContext[]
  users?: NamedUser[]
  preferences?: unknown
  extensions?: unknown
}

export interface NamedCluster {
  name: string
  cluster: KubeconfigCluster
}

/** A cluster of a kubeconfig. */
export interface KubeconfigCluster {
  server?: string
  'tls-server-name'?: string
  'insecure-skip-tls-verify'?: boolean
  'certificate-authority'?: string
  'certificate-authority-data'?: string
  'proxy-url'?: string
  'disable-compression'?: boolean
  extensions?: unknown
}

export interface NamedContext {
  name: string
  context: KubeconfigContext
}

/** A context of a kubeconfig. */
export interface KubeconfigContext {
  cluster?: string
  user?: string
  namespace?: string
  extensions?: unknown
}

export interface NamedUser {
  name: string
  user: KubeconfigUser
}

/** A user of a kubeconfig. */
export interface KubeconfigUser {
  'client-certificate'?: string
  'client-certificate-data'?: string
  'client-key'?: string
  'client-key-data'?: string
  token?: string
  tokenFile?: string
  username?: string
  password?: string
  exec?: ExecConfig
  'auth-provider'?: { name: string; config?: Record<string, string> }
  as?: string
  'as-uid'?: string
  'as-groups'?: string[]
  'as-user-extra'?: Record<string, string[]>
  extensions?: unknown
}

/** The `exec` credential plug-in of a kubeconfig user. */
export interface ExecConfig {
  apiVersion?: string
  command: string
  args?: string[] | null
  env?: { name: string; value: string }[] | null
  installHint?: string
  provideClusterInfo?: boolean
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
}

/**
 * Several files as one, by kubectl's rules: of two entries with one name, and of two current contexts, the one that
 * comes first wins.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const current = configs.map(config => config['current-context']).find(context => context)
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: firstOfEach(configs.flatMap(config => config.clusters ?? [])),
    contexts: firstOfEach(configs.flatMap(config => config.contexts ?? [])),
    users: firstOfEach(configs.flatMap(config => config.users ?? [])),
    ...(current !== undefined && { 'current-context': current }),
  }
}

function firstOfEach<T extends { name: string }>(entries: readonly T[]): T[] {
  const byName = new Map<string, T>()
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry)
  return [...byName.values()]
}

/** The cluster and user of a context. */
export interface ContextEntries {
  readonly contextName: string
  readonly context: KubeconfigContext
  readonly cluster: KubeconfigCluster
  readonly clusterName: string
  readonly user: KubeconfigUser
  readonly userName: string
}

/** Follows a context to its cluster and user. Throws `BadKubeconfig` when one of them does not exist. */
export function selectContext(config: Kubeconfig, contextName?: string): ContextEntries {
  const name = contextName ?? config['current-context'] ?? ''
  if (name === '') throw new ClientError('BadKubeconfig', 'the kubeconfig has no current-context')
  const context = config.contexts?.find(entry => entry.name === name)?.context
  if (!context) throw new ClientError('BadKubeconfig', `context ${JSON.stringify(name)} does not exist`)
  const clusterName = context.cluster ?? ''
  const cluster = config.clusters?.find(entry => entry.name === clusterName)?.cluster
  if (!cluster) {
    throw new ClientError(
      'BadKubeconfig',
      `context ${JSON.stringify(name)}: cluster ${JSON.stringify(clusterName)} does not exist`,
    )
  }
  const userName = context.user ?? ''
  const user = config.users?.find(entry => entry.name === userName)?.user
  if (!user && userName !== '') {
    throw new ClientError(
      'BadKubeconfig',
      `context ${JSON.stringify(name)}: user ${JSON.stringify(userName)} does not exist`,
    )
  }
  return { contextName: name, context, cluster, clusterName, user: user ?? {}, userName }
}
