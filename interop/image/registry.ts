import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { componentPath } from '../../tools/components/index.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'

/** A real registry of its own on a loopback address. */
export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  /** How many bytes its blobs have. */
  storedBytes(): number
}

/** The password of the user `sailor` is `ahoy`. */
const htpasswd = 'sailor:$2b$10$KGE1X3cWHwaoqAwvnCcGueQIF7/bGH9PknTnEgcpMpiObGUrMdHxm\n'

export async function startRegistry(access: 'anonymous' | 'password' = 'anonymous'): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-registry-'))
  const host = `127.0.0.1:${await freePort()}`
  writeFileSync(join(folder, 'htpasswd'), htpasswd)
  const configuration = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: host },
    ...(access === 'password' && {
      auth: { htpasswd: { realm: 'harbour', path: join(folder, 'htpasswd') } },
    }),
  }
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(configuration))
  const child = spawn(componentPath('docker-registry'), ['serve', join(folder, 'config.yml')], {
    stdio: 'ignore',
  })
  await eventually('the registry answers', async () => (await fetch(`http://${host}/v2/`)).status < 500)
  return {
    host,
    storedBytes: () => bytesOf(join(folder, 'data/docker/registry/v2/blobs')),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

function bytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(each => each.isFile())
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
}
