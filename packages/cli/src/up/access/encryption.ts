import { statSync } from 'node:fs'
import { readYaml } from '@coxswain/apimachinery/yaml'
import type { Env } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import { createEncryptedStore, type Encryption, readEncryption } from '@coxswain/storage/encryption'
import { readFlagFile } from '../options/flag-file.ts'

/** How often the file is checked. */
const reloadPeriod = 60_000

/** The same store with values encrypted as configured in the file; `reload` follows changes of the file until its signal aborts. */
export function encryptStore(
  store: Store,
  file: string,
  env: Env,
): { readonly store: Store; readonly reload: (signal: AbortSignal) => Promise<void> } {
  const encrypted = createEncryptedStore(store, read(file, env))
  let known = statSync(file).mtimeMs
  return {
    store: encrypted,
    async reload(signal) {
      for (;;) {
        await env.clock.sleep(reloadPeriod, { signal })
        try {
          const changed = statSync(file).mtimeMs
          if (changed === known) continue
          encrypted.configure(read(file, env))
          known = changed
          env.log.info('reloaded the encryption configuration', { file })
        } catch (error) {
          env.log.error('failed to reload the encryption configuration', { file, error })
        }
      }
    },
  }
}

function read(file: string, env: Env): Encryption {
  return readFlagFile('encryption-provider-config', file, text => readEncryption(readYaml(text)?.value, env))
}
