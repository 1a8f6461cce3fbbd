import type { Access } from '../apiserver/access.ts'
import { Http2Connection } from '../apiserver/http2-connection.ts'

const connections = 4
const atOnce = 8
let runs = 0

/** Changes each of the pods that the load generator has made, once. */
export async function patchPods(access: Access, namespace: string, count: number): Promise<void> {
  const version = `${Date.now()}-${++runs}`
  const patch = Buffer.from(JSON.stringify({ metadata: { annotations: { 'example.com/version': version } } }))
  const opened = await Promise.all(Array.from({ length: connections }, () => Http2Connection.open(access)))
  let next = 0
  const worker = async (connection: Http2Connection) => {
    while (next < count) {
      const name = `pod-${String(next++).padStart(7, '0')}`
      await send(connection, `/api/v1/namespaces/${namespace}/pods/${name}`, patch)
    }
  }
  try {
    await Promise.all(opened.flatMap(each => Array.from({ length: atOnce }, () => worker(each))))
  } finally {
    for (const each of opened) each.close()
  }
}

function send(connection: Http2Connection, path: string, patch: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.send(
      'PATCH',
      path,
      {
        onStatus: status => {
          if (status !== 200) reject(new Error(`a patch was answered ${status}`))
        },
        onData: () => {},
        onEnd: error => (error ? reject(error) : resolve()),
      },
      patch,
      'application/merge-patch+json',
    )
  })
}
