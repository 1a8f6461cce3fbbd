import { existsSync, readFileSync } from 'node:fs'
import { Namespace } from '@coxswain/api/core/v1'
import { createClientFromKubeconfig, loadKubeconfig } from '@coxswain/client/node'
import { type ProjectResource, readProjectFile } from '@coxswain/project/scaffold'

/** How long a cluster may take to list namespaces, in milliseconds: a user is waiting at a prompt. */
const patience = 1_000

const sources: Readonly<Record<string, () => Promise<string[]> | string[]>> = {
  '--context': contexts,
  '--namespace': namespaces,
  '--namespaces': namespaces,
  '--group': () => fromProject(({ group }) => group),
  '--version': () => fromProject(({ version }) => version),
  '--spoke': () => fromProject(({ version }) => version),
  '--kind': () => fromProject(({ kind }) => kind),
}

/** The values that a flag can have, as far as the project and the cluster say. What cannot be asked has none: a prompt shows no errors. */
export async function valuesOf(flag: string): Promise<string[]> {
  const source = Object.hasOwn(sources, flag) ? sources[flag] : undefined
  try {
    return [...new Set((await source?.()) ?? [])].sort()
  } catch {
    return []
  }
}

async function contexts(): Promise<string[]> {
  const { config } = await loadKubeconfig({})
  return (config.contexts ?? []).map(({ name }) => name)
}

async function namespaces(): Promise<string[]> {
  await using cluster = await createClientFromKubeconfig({ userAgent: 'coxswain-completion/0.1' })
  const { items } = await cluster.client.list(Namespace, { timeout: patience, limit: 500 })
  return items.map(({ metadata }) => metadata.name)
}

function fromProject(read: (resource: ProjectResource) => string): string[] {
  return existsSync('PROJECT') ? readProjectFile(readFileSync('PROJECT', 'utf8')).resources.map(read) : []
}
