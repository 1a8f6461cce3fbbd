import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createKubeconfig,
  type KubeconfigEntry,
  loadKubeconfig,
  writeKubeconfig,
} from '@coxswain/client/kubeconfig'
import type { Env } from '@coxswain/kit'
import { makeDirectories } from '@coxswain/kit/node'
import { CommandError, explainSystemError } from '../../exit.ts'
import { componentNames, ensureComponentCertificate, type Pki } from './pki.ts'

/** Where a kubeconfig leads. */
export interface ServerAddress {
  readonly url: string
  /** What the server's certificate is checked for. @default the host of the URL */
  readonly serverName: string | undefined
}

const clusterName = 'coxswain'

/** Throws when the file exists and has other clusters than that of an earlier start: they would be lost. */
export async function refuseForeignKubeconfig(file: string): Promise<void> {
  if (!existsSync(file)) return
  let clusters: readonly { readonly name: string }[]
  try {
    clusters = (await loadKubeconfig({ path: file })).config.clusters ?? []
  } catch (error) {
    throw new CommandError(`--kubeconfig ${file}: exists and is not a kubeconfig of this server`, {
      cause: error,
    })
  }
  if (clusters.every(({ name }) => name === clusterName)) return
  throw new CommandError(
    `--kubeconfig ${file}: has other clusters, which would be lost; choose another file, and list both in KUBECONFIG`,
  )
}

/** The administrator's, for people. */
export async function writeAdminKubeconfig(file: string, server: ServerAddress, pki: Pki): Promise<void> {
  const { certificate: cert, key } = pki.admin
  await write(file, server, { user: 'admin', ca: pki.ca.certificate, cert, key })
}

/** Without our own controllers: kubeconfigs for kube-controller-manager and kube-scheduler. */
export async function writeComponentKubeconfigs(
  { dataDir, certDir }: { readonly dataDir: string; readonly certDir: string },
  server: ServerAddress,
  pki: Pki,
  env: Env,
): Promise<void> {
  for (const name of componentNames) {
    const { user, pair } = ensureComponentCertificate(certDir, env, name, pki.ca)
    const { certificate: cert, key } = pair
    await write(join(dataDir, `${name}.conf`), server, { user, ca: pki.ca.certificate, cert, key })
  }
}

async function write(
  file: string,
  { url: server, serverName }: ServerAddress,
  credentials: Omit<KubeconfigEntry, 'cluster' | 'server'>,
): Promise<void> {
  const entry = { ...credentials, server, ...(serverName !== undefined && { serverName }) }
  try {
    makeDirectories(dirname(file))
    await writeKubeconfig(file, createKubeconfig({ cluster: clusterName, ...entry }))
  } catch (error) {
    throw new CommandError(`the kubeconfig ${file} cannot be written: ${explainSystemError(error)}`, {
      cause: error,
    })
  }
}
