import { existsSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadKubeconfig, parseKubeconfig, writeKubeconfig } from '@coxswain/client/kubeconfig'
import { makeDirectories } from '@coxswain/kit/node'
import { CommandError } from '../exit.ts'

type Kubeconfig = Awaited<ReturnType<typeof loadKubeconfig>>['config']

export interface ContextOptions {
  readonly kubeconfig?: string
}

/** Milliseconds that another program may hold the file. */
const patience = 10_000

/** The file that is changed: the named one, or the first that kubectl reads. */
function fileOf({ kubeconfig }: ContextOptions): string {
  const [first] = (process.env.KUBECONFIG ?? '').split(delimiter).filter(Boolean)
  return resolve(kubeconfig ?? first ?? join(homedir(), '.kube', 'config'))
}

/** Adds the one cluster of a kubeconfig under a name, in the place of one with this name, and makes it current. */
export async function addContext(own: string, name: string, options: ContextOptions): Promise<void> {
  const { config: added } = await loadKubeconfig({ path: own })
  const [cluster] = added.clusters ?? []
  const [user] = added.users ?? []
  await change(fileOf(options), config => {
    const others = without(config, name)
    return {
      apiVersion: 'v1',
      kind: 'Config',
      ...others,
      clusters: [...(others.clusters ?? []), { ...cluster!, name }],
      users: [...(others.users ?? []), { ...user!, name }],
      contexts: [...(others.contexts ?? []), { name, context: { cluster: name, user: name } }],
      'current-context': name,
    }
  })
}

/** Removes it. Where it was the current one, none is. */
export async function removeContext(name: string, options: ContextOptions): Promise<void> {
  const file = fileOf(options)
  if (!existsSync(file)) return
  await change(file, config => {
    const others = without(config, name)
    return config['current-context'] === name ? { ...others, 'current-context': '' } : others
  })
}

function without(config: Kubeconfig, name: string): Kubeconfig {
  const drop = <T extends { readonly name: string }>(entries: readonly T[] | undefined) =>
    (entries ?? []).filter(entry => entry.name !== name)
  return {
    ...config,
    clusters: drop(config.clusters),
    users: drop(config.users),
    contexts: drop(config.contexts),
  }
}

/** Changes the file while holding the lock that kubectl and kind use. */
async function change(file: string, edit: (config: Kubeconfig) => Kubeconfig): Promise<void> {
  makeDirectories(dirname(file))
  const lock = `${file}.lock`
  const end = performance.now() + patience
  for (;;) {
    try {
      await (await open(lock, 'wx')).close()
      break
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
      if (performance.now() > end)
        throw new CommandError(`${file} is locked by another program; if there is none, remove ${lock}`)
      await sleep(20)
    }
  }
  try {
    const config = existsSync(file) ? parseKubeconfig(await readFile(file, 'utf8'), file) : {}
    await writeKubeconfig(file, edit(config))
  } finally {
    await rm(lock, { force: true })
  }
}
