import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A port of this machine that nobody listens on: Pods that are processes share them with everybody. */
export async function freePort(): Promise<number> {
  const listener = createServer().listen(0)
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}
