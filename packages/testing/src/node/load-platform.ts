import type { PlatformOptions } from '@coxswain/apiserver'

/** What Node.js does for the API server of a cluster; nothing in a browser, where certificate requests are rejected. */
export async function loadPlatform(): Promise<PlatformOptions> {
  if (!globalThis.process?.versions?.node) return {}
  const { verifySignature } = await import('@coxswain/apiserver/node')
  return { verifySignature }
}
