import type { PlatformOptions } from '@coxswain/apiserver'
import type { ProjectRights } from '../rights/cluster-rights.ts'
import type { Recording } from '../rights/recording.ts'

/** What Node.js does for a cluster. */
export interface Platform {
  /** For its API server. */
  readonly server: PlatformOptions
  readonly findProjectRights: () => ProjectRights | undefined
  readonly saveRecording: (recording: Recording) => void
}

/** What Node.js does; nothing in a browser, where certificate requests are rejected and rights are not recorded. */
export async function loadPlatform(): Promise<Platform> {
  if (!globalThis.process?.versions?.node)
    return { server: {}, findProjectRights: () => undefined, saveRecording: () => {} }
  const { verifySignature } = await import('@coxswain/apiserver/node')
  const { findProjectRights, saveRecording } = await import('./project-rights.ts')
  return { server: { verifySignature }, findProjectRights, saveRecording }
}
