import type { Clock } from '@coxswain/kit'
import { ClientError } from '../errors.ts'
import type { Credentials } from './credentials.ts'
import type { ExecConfig, KubeconfigCluster } from './kubeconfig.ts'

const supported = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

interface ExecStatus {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

export interface ExecPluginOptions {
  readonly exec: ExecConfig
  readonly cluster: KubeconfigCluster
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Called after the certificate was renewed: connections with the old one should be closed. */
  readonly onNewCertificate: () => void
}

/** The most output of a plug-in. */
const maxOutput = 1024 * 1024

/**
 * Credentials from a program (client.authentication.k8s.io). It runs when they are first needed, when they have
 * expired, and when the server rejects them; concurrent calls share one run.
 */
export function execPlugin(options: ExecPluginOptions): Credentials {
  const { exec, clock, onNewCertificate } = options
  const version = exec.apiVersion ?? ''
  let held: ExecStatus | undefined
  let running: Promise<ExecStatus> | undefined

  const renew = (): Promise<ExecStatus> => {
    running ??= runPlugin(options, version)
      .then(status => {
        const changed = held?.clientCertificateData !== status.clientCertificateData
        const first = held === undefined
        held = status
        if (changed && !first) onNewCertificate()
        return status
      })
      .finally(() => {
        running = undefined
      })
    return running
  }
  const current = async (): Promise<ExecStatus> => {
    const expires = held?.expirationTimestamp
    const valid = held && (expires === undefined || Date.parse(expires) > clock.now())
    return valid ? held! : renew()
  }
  return {
    async authorization() {
      const { token } = await current()
      return token === undefined ? undefined : `Bearer ${token}`
    },
    async certificate() {
      const { clientCertificateData, clientKeyData } = await current()
      if (clientCertificateData === undefined || clientKeyData === undefined) return undefined
      return { cert: clientCertificateData, key: clientKeyData }
    },
    async refresh() {
      const before = held
      const after = await renew()
      return after.token !== before?.token || after.clientCertificateData !== before?.clientCertificateData
    },
  }
}

async function runPlugin(options: ExecPluginOptions, version: string): Promise<ExecStatus> {
  const { exec } = options
  const bad = (what: string, cause?: unknown) => {
    const hint = exec.installHint ? `\n\n${exec.installHint}` : ''
    return new ClientError('NoCredentials', `exec plugin ${exec.command}: ${what}${hint}`, { cause })
  }
  if (!supported.includes(version)) throw bad(`unknown apiVersion ${JSON.stringify(version)}`)
  const mode = exec.interactiveMode ?? 'IfAvailable'
  const interactive = mode !== 'Never' && process.stdin.isTTY === true
  if (mode === 'Always' && !interactive) throw bad('it needs a terminal (interactiveMode Always)')
  const info = {
    kind: 'ExecCredential',
    apiVersion: version,
    spec: { interactive, ...(exec.provideClusterInfo && { cluster: clusterInfo(options.cluster) }) },
  }
  const environment = {
    ...options.environment,
    ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  }
  const output = await new Promise<string>((resolve, reject) => {
    const settings = { env: environment, maxBuffer: maxOutput, encoding: 'utf8' as const }
    const { execFile } = process.getBuiltinModule('node:child_process') // few kubeconfigs need it
    const child = execFile(exec.command, exec.args ?? [], settings, (error, stdout, stderr) => {
      if (error) reject(bad(`${error.message}${stderr ? `: ${stderr.trim().slice(0, 500)}` : ''}`, error))
      else resolve(stdout)
    })
    if (interactive && child.stdin) process.stdin.pipe(child.stdin)
    else child.stdin?.end()
  })
  return readStatus(output, version, bad)
}

function readStatus(
  output: string,
  version: string,
  bad: (what: string, cause?: unknown) => ClientError,
): ExecStatus {
  let credential: { kind?: unknown; apiVersion?: unknown; status?: ExecStatus }
  try {
    credential = JSON.parse(output)
  } catch (cause) {
    throw bad('it printed something that is not JSON', cause)
  }
  if (credential.kind !== 'ExecCredential' || credential.apiVersion !== version) {
    throw bad(`it printed ${credential.kind} of ${credential.apiVersion} where ${version} was asked for`)
  }
  const { status } = credential
  if (!status || (!status.token && !status.clientCertificateData))
    throw bad('it gave neither a token nor a certificate')
  if (!status.clientCertificateData !== !status.clientKeyData)
    throw bad('it gave only one of certificate and key')
  return status
}

function clusterInfo(cluster: KubeconfigCluster): object {
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': cluster['certificate-authority-data'],
    'proxy-url': cluster['proxy-url'],
    config: null,
  }
}
