import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '@coxswain/kit'
import { createMemoryStore, hasStoreErrorCode, type Store } from '@coxswain/storage'
import { CommandError, explainSystemError } from '../exit.ts'

export interface StoreOptions {
  readonly storage: 'sqlite' | 'memory' | 'etcd'
  readonly etcdServers?: readonly string[]
  readonly etcdPrefix: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
}

/** Opens a store when it is called. */
export type StoreOpener = () => Promise<Store>

/** Loads what the store needs. Calling what it resolves with starts threads or connections. */
export async function loadStore(options: StoreOptions, dataDir: string, env: Env): Promise<StoreOpener> {
  if (options.storage === 'memory') return async () => createMemoryStore({ env })
  if (options.storage === 'etcd') return await loadEtcd(options, env)
  const { openSqliteStore } = await import('@coxswain/storage/sqlite')
  const directory = join(dataDir, 'store')
  return async () => {
    try {
      return await openSqliteStore({ directory, env })
    } catch (error) {
      const hint = hasStoreErrorCode(error, 'Locked') ? '; is another coxswain using it?' : ''
      const reason = `${explainSystemError(error)}${hint}`
      throw new CommandError(`the store in ${directory} cannot be opened: ${reason}`, { cause: error })
    }
  }
}

async function loadEtcd(options: StoreOptions, env: Env): Promise<StoreOpener> {
  if (!options.etcdServers?.length) {
    throw new CommandError('--storage etcd needs --etcd-servers', { exitCode: 2 })
  }
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file))
  const tls = {
    ca: read(options.etcdCafile),
    cert: read(options.etcdCertfile),
    key: read(options.etcdKeyfile),
  }
  const { etcdServers: endpoints, etcdPrefix: prefix } = options
  const { createEtcdStore } = await import('@coxswain/storage/etcd')
  return async () => await createEtcdStore({ env, endpoints, prefix, tls })
}
