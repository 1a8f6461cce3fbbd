import type { Writable } from 'node:stream'

/** Sends a body as it arrives. When it fails, the request is aborted: half a body must not look like a whole one. */
export function sendStream(body: AsyncIterable<Uint8Array>, to: Writable): void {
  pump(body, to).catch((error: Error) => to.destroy(error))
}

async function pump(body: AsyncIterable<Uint8Array>, to: Writable): Promise<void> {
  for await (const chunk of body) {
    if (to.destroyed || to.writableEnded) return // the server has answered, or the connection was lost
    if (!to.write(chunk)) await drained(to)
  }
  to.end()
}

function drained(to: Writable): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      to.off('drain', done).off('close', done)
      resolve()
    }
    to.on('drain', done).on('close', done)
  })
}
