import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A free port of this machine: Pods that are processes share the machine's ports. */
export async function freePort(): Promise<number> {
  const listener = createServer().listen(0)
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}
