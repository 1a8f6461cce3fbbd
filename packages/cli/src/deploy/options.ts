/** The options that reach a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

/** The options of everything that writes to a cluster. */
export interface ChangeOptions extends ClusterOptions {
  readonly dryRun: 'none' | 'client' | 'server'
  readonly wait: boolean
  readonly timeout: string
}

export interface ApplyCommandOptions extends ChangeOptions {
  readonly forceConflicts: boolean
  readonly filename?: readonly string[]
  readonly kustomize?: string
  readonly recursive?: boolean
}

export interface DeployCommandOptions extends ApplyCommandOptions {
  readonly image?: string
}

export interface RemoveCommandOptions extends ChangeOptions {
  readonly yes: boolean
}

export interface InstallerCommandOptions {
  readonly image?: string
  readonly output: string
}
