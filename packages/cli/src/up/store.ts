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

export async function openStore(options: StoreOptions, dataDir: string, env: Env): Promise<Store> {
  if (options.storage === 'memory') return createMemoryStore({ env })
  if (options.storage === 'etcd') return await openEtcd(options, env)
  const directory = join(dataDir, 'store')
  try {
    const { openSqliteStore } = await import('@coxswain/storage/sqlite')
    return await openSqliteStore({ directory, env })
  } catch (error) {
    const hint = hasStoreErrorCode(error, 'Locked') ? '; is another coxswain using it?' : ''
    throw new CommandError(
      `the store in ${directory} cannot be opened: ${explainSystemError(error)}${hint}`,
      { cause: error },
    )
  }
}

async function openEtcd(options: StoreOptions, env: Env): Promise<Store> {
  if (!options.etcdServers?.length)
    throw new CommandError('--storage etcd needs --etcd-servers', { exitCode: 2 })
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file))
  const { createEtcdStore } = await import('@coxswain/storage/etcd')
  return createEtcdStore({
    env,
    endpoints: options.etcdServers,
    prefix: options.etcdPrefix,
    tls: { ca: read(options.etcdCafile), cert: read(options.etcdCertfile), key: read(options.etcdKeyfile) },
  })
}
