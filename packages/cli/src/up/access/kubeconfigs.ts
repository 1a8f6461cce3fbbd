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

/** The administrator's kubeconfig. */
export async function writeAdminKubeconfig(file: string, url: string, pki: Pki): Promise<void> {
  const { certificate: cert, key } = pki.admin
  await write(file, { user: 'admin', server: url, ca: pki.ca.certificate, cert, key })
}

/** Without our own controllers: kubeconfigs for kube-controller-manager and kube-scheduler. */
export async function writeComponentKubeconfigs(
  dataDir: string,
  url: string,
  pki: Pki,
  env: Env,
): Promise<void> {
  for (const name of componentNames) {
    const { user, pair } = ensureComponentCertificate(join(dataDir, 'pki'), env, name, pki.ca)
    const { certificate: cert, key } = pair
    await write(join(dataDir, `${name}.conf`), { user, server: url, ca: pki.ca.certificate, cert, key })
  }
}

async function write(file: string, entry: Omit<KubeconfigEntry, 'cluster'>): Promise<void> {
  try {
    makeDirectories(dirname(file))
    await writeKubeconfig(file, createKubeconfig({ cluster: clusterName, ...entry }))
  } catch (error) {
    throw new CommandError(`the kubeconfig ${file} cannot be written: ${explainSystemError(error)}`, {
      cause: error,
    })
  }
}
