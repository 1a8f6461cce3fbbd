import { join } from 'node:path'
import type { Env } from '@coxswain/kit'
import { createMemoryStore, isStoreError, type Store } from '@coxswain/storage'
import { CommandError, explainSystemError } from '../exit.ts'
import { readCertificates, readFlagFile, readPrivateKey } from './options/flag-file.ts'
import type { StoreOptions } from './options/store-options.ts'

/** Milliseconds before the start reports what it waits for. */
const silence = 2_000

/** Opens a store when it is called. */
export type StoreOpener = () => Promise<Store>

/** Loads the code of the store. Calling the returned function starts threads or connections. */
export async function loadStore(options: StoreOptions, dataDir: string, env: Env): Promise<StoreOpener> {
  if (options.storage === 'memory') return async () => createMemoryStore({ env })
  if (options.storage === 'etcd') return await loadEtcd(options, env)
  const { openSqliteStore } = await import('@coxswain/storage/sqlite')
  const directory = join(dataDir, 'store')
  return async () => {
    try {
      return await openSqliteStore({ directory, env, isUnsafeNoFsync: options.unsafeNoFsync })
    } catch (error) {
      if (isStoreError(error, 'Corrupt')) throw error
      const reason = isStoreError(error, 'Locked') ? 'another process is using it' : explainSystemError(error)
      throw new CommandError(`the store in ${directory} cannot be opened: ${reason}`, { cause: error })
    }
  }
}

async function loadEtcd(options: StoreOptions, env: Env): Promise<StoreOpener> {
  if (!options.etcdServers?.length) {
    throw new CommandError('--storage etcd needs --etcd-servers', { exitCode: 2 })
  }
  const tls = {
    ca: read('etcd-cafile', options.etcdCafile, readCertificates),
    cert: read('etcd-certfile', options.etcdCertfile, readCertificates),
    key: read('etcd-keyfile', options.etcdKeyfile, readPrivateKey),
  }
  const { etcdServers: endpoints, etcdPrefix: prefix } = options
  const { createEtcdStore } = await import('@coxswain/storage/etcd')
  return async () => {
    const where = `etcd at ${endpoints.join(', ')}`
    const waiting = env.clock.after(silence, () =>
      process.stderr.write(`coxswain: waiting for ${where} to answer\n`),
    )
    let store: Store | undefined
    try {
      store = createEtcdStore({ env, endpoints, prefix, tls })
      await store.status()
      return store
    } catch (error) {
      await store?.close()
      throw new CommandError(`${where} cannot be used: ${(error as Error).message}; see --etcd-servers`, {
        exitCode: isStoreError(error, 'InvalidArgument') ? 2 : 1,
        cause: error,
      })
    } finally {
      waiting.cancel()
    }
  }
}

function read(flag: string, file: string | undefined, check: (text: string) => string): Buffer | undefined {
  return file === undefined ? undefined : Buffer.from(readFlagFile(flag, file, check))
}
