import { readFileSync } from 'node:fs'
import { parseKubeconfig } from '@coxswain/client/node'
import { startServer } from './coxswain.ts'

/** The server that a suite talks to. It knows an administrator in group system:masters. */
export interface Target extends AsyncDisposable {
  readonly kubeconfig: string
  /** The name of the kubeconfig's current context. */
  readonly context: string
}

/**
 * A fresh server of ours without controllers, or the one whose kubeconfig INTEROP_KUBECONFIG names: that one is shared
 * by all tests of the run and may hold what earlier ones left, so tests name cluster-scoped objects apart.
 */
export async function startTarget(): Promise<Target> {
  const given = process.env.INTEROP_KUBECONFIG
  if (given)
    return { kubeconfig: given, context: currentContext(given), [Symbol.asyncDispose]: async () => {} }
  const server = await startServer('--controllers', 'none')
  const { kubeconfig } = server
  return {
    kubeconfig,
    context: currentContext(kubeconfig),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const currentContext = (file: string) =>
  parseKubeconfig(readFileSync(file, 'utf8'), file)['current-context'] ?? ''
