import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Logger } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'

/** The socket on which a running server accepts commands from users who may write to its data directory. */
export function controlSocketPath(dataDir: string): string {
  return join(dataDir, 'control.sock')
}

/** A request and its answer are one line of JSON each. */
export interface ControlRequest {
  readonly command: 'restore'
  readonly file: string
}

export type ControlAnswer =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly error: string }

const longestRequest = 64 * 1024

/** The longest socket path in bytes on every system. */
const longestPath = 103

/** Listens until it is disposed. If the socket path would be too long, logs that and does not listen. */
export async function serveControlSocket(
  dataDir: string,
  store: Store,
  log: Logger,
): Promise<AsyncDisposable> {
  const path = controlSocketPath(dataDir)
  if (Buffer.byteLength(path) > longestPath) {
    log.info(
      'the path of the data directory is too long for a socket: stop the server before coxswain store restore',
      {
        path,
      },
    )
    return { async [Symbol.asyncDispose]() {} }
  }
  rmSync(path, { force: true })
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length > longestRequest) socket.destroy()
      const end = text.indexOf('\n')
      if (end < 0) return
      socket.pause()
      answer(text.slice(0, end), store).then(result => socket.end(`${JSON.stringify(result)}\n`))
    })
  })
  const mask = process.umask(0o077)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  }).finally(() => process.umask(mask))
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function answer(line: string, store: Store): Promise<ControlAnswer> {
  try {
    const request = JSON.parse(line) as Partial<ControlRequest>
    if (request.command !== 'restore' || typeof request.file !== 'string') {
      return { ok: false, error: 'the only command is restore, with a file' }
    }
    const { restoreIntoStore } = await import('@coxswain/storage/sqlite')
    await restoreIntoStore(store, request.file)
    return { ok: true, revision: (await store.status()).revision }
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) }
  }
}
