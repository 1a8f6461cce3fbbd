import type { Container, LifecycleHandler } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Env } from '@coxswain/kit'
import type { ContainerRuntime, PodIdentity, RunningContainer } from '../container-runtime.ts'
import { portNumber } from './probes.ts'

export interface HookTarget {
  readonly pod: PodIdentity
  readonly container: DeepReadonly<Container>
  readonly handle: RunningContainer
  readonly runtime: ContainerRuntime
  readonly env: Env
}

/** The timeout of HTTP hooks. */
const httpTimeout = 30_000

/** Runs a lifecycle hook. Rejects when it fails, or when `signal` aborts. Simulated containers only sleep. */
export async function runHook(
  hook: DeepReadonly<LifecycleHandler>,
  { pod, container, handle, runtime, env }: HookTarget,
  signal: AbortSignal,
): Promise<void> {
  const ignore = async () => {}
  if ((handle.isSimulated ?? runtime.isSimulated) && !hook.sleep) return
  if (hook.exec) {
    const command = hook.exec.command ?? []
    const exitCode = await handle.exec(command, { stdout: ignore, stderr: ignore, tty: false, signal })
    if (exitCode !== 0) throw new Error(`command '${command.join(' ')}' exited with ${exitCode}`)
  } else if (hook.httpGet) {
    const { path = '/', scheme = 'HTTP', httpHeaders = [], host, port } = hook.httpGet
    const { success, message } = await runtime.probe(pod, {
      type: 'http',
      port: portNumber(container, port),
      scheme,
      path,
      headers: httpHeaders,
      timeout: httpTimeout,
      ...(host && { host }),
    })
    if (!success) throw new Error(message)
  } else if (hook.sleep) {
    await env.clock.sleep(hook.sleep.seconds * 1000, { signal })
  }
}
