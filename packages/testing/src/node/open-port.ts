import type { ServeClusterOptions, ServedCluster } from './serve-cluster.ts'

/** {@link serveCluster}, loaded on first use: most tests never load a socket. */
export async function openPort(options: ServeClusterOptions): Promise<ServedCluster> {
  const { serveCluster } = await import('./serve-cluster.ts')
  return await serveCluster(options)
}
