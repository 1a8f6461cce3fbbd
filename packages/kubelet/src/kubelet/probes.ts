import type { Container, Probe } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Env, TaskGroup } from '@coxswain/kit'
import type { ContainerRuntime, PodIdentity, ProbeOutcome, RunningContainer } from '../container-runtime.ts'

export type ProbeType = 'Startup' | 'Readiness' | 'Liveness'

export interface ProbeTarget {
  readonly pod: PodIdentity
  readonly container: DeepReadonly<Container>
  readonly handle: RunningContainer
  readonly runtime: ContainerRuntime
  readonly env: Env
}

export interface ProbeListener {
  /** The result has changed: a threshold of successes or failures in a row was reached. */
  onResult(type: ProbeType, success: boolean, message: string): void
  /** One attempt failed or has a warning to report. */
  onTrouble(type: ProbeType, outcome: ProbeOutcome): void
}

/** Starts the probes of a container that has just been started; the others wait for the startup probe. They end with `group`. */
export function probeContainer(target: ProbeTarget, group: TaskGroup, listener: ProbeListener): void {
  const { startupProbe, readinessProbe, livenessProbe } = target.container
  const begin = (type: ProbeType, probe: DeepReadonly<Probe>, to: ProbeListener, signal: AbortSignal) =>
    group.spawn(() => runProbe(type, probe, target, to, signal))
  const beginOthers = () => {
    if (readinessProbe) begin('Readiness', readinessProbe, listener, group.signal)
    if (livenessProbe) begin('Liveness', livenessProbe, listener, group.signal)
  }
  if (!startupProbe) {
    beginOthers()
    return
  }
  const startup = new AbortController()
  const onResult: ProbeListener['onResult'] = (type, success, message) => {
    listener.onResult(type, success, message)
    if (!success) return
    startup.abort()
    beginOthers()
  }
  const signal = AbortSignal.any([group.signal, startup.signal])
  begin('Startup', startupProbe, { ...listener, onResult }, signal)
}

/** Probes periodically, until `signal` aborts. */
async function runProbe(
  type: ProbeType,
  probe: DeepReadonly<Probe>,
  target: ProbeTarget,
  listener: ProbeListener,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = target.env
  const period = (probe.periodSeconds || 10) * 1000
  const failureThreshold = probe.failureThreshold || 3
  const successThreshold = probe.successThreshold || 1
  let run = 0
  let last: boolean | undefined
  let reported: boolean | undefined
  const sleep = async (ms: number) => await clock.sleep(ms, { signal }).catch(() => {}) // the loop checks the signal
  await sleep((probe.initialDelaySeconds ?? 0) * 1000)
  while (!signal.aborted) {
    const outcome = await attempt(probe, target, signal)
    if (signal.aborted) return
    const { success, message, isError, isWarning } = outcome
    if (!success || isWarning) listener.onTrouble(type, outcome)
    if (isError) {
      await sleep(period)
      continue
    }
    run = success === last ? run + 1 : 1
    last = success
    if (run >= (success ? successThreshold : failureThreshold) && (reported !== success || !success)) {
      reported = success
      listener.onResult(type, success, message)
      // The container is restarted, with new probes.
      if (!success && type !== 'Readiness') return
    }
    await sleep(period)
  }
}

/** Resolves a named port. @throws when no port has that name */
export function portNumber(container: DeepReadonly<Container>, port: number | string): number {
  if (typeof port === 'number') return port
  const named = container.ports?.find(({ name }) => name === port)?.containerPort
  if (named !== undefined) return named
  if (/^\d+$/.test(port)) return Number(port)
  throw new Error(`strconv.Atoi: parsing ${JSON.stringify(port)}: invalid syntax`)
}

async function attempt(
  probe: DeepReadonly<Probe>,
  { pod, container, handle, runtime, env }: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const timeout = (probe.timeoutSeconds || 1) * 1000
  const { exec, httpGet, tcpSocket, grpc } = probe
  try {
    if (exec) return await execProbe(handle, exec.command ?? [], timeout, env, signal)
    if (httpGet) {
      const { path = '/', scheme = 'HTTP', httpHeaders = [], host, port } = httpGet
      return await runtime.probe(pod, {
        type: 'http',
        port: portNumber(container, port),
        scheme,
        path,
        headers: httpHeaders,
        timeout,
        ...(host && { host }),
      })
    }
    if (tcpSocket) {
      const { host, port } = tcpSocket
      const number = portNumber(container, port)
      return await runtime.probe(pod, { type: 'tcp', port: number, timeout, ...(host && { host }) })
    }
    if (grpc)
      return await runtime.probe(pod, { type: 'grpc', port: grpc.port, service: grpc.service ?? '', timeout })
    return { success: true, message: '' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { success: false, message, isError: true }
  }
}

async function execProbe(
  handle: RunningContainer,
  command: readonly string[],
  timeout: number,
  env: Env,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const stop = new AbortController()
  const timer = env.clock.after(timeout, () => stop.abort())
  const decoder = new TextDecoder()
  let output = ''
  const collect = async (chunk: Uint8Array) => {
    if (output.length < 10_240) output += decoder.decode(chunk, { stream: true })
  }
  try {
    const exitCode = await handle.exec(command, {
      stdout: collect,
      stderr: collect,
      tty: false,
      signal: AbortSignal.any([signal, stop.signal]),
    })
    if (stop.signal.aborted) {
      return {
        success: false,
        message: `command timed out: "${command.join(' ')}" timed out after ${timeout / 1000}s`,
      }
    }
    return { success: exitCode === 0, message: output }
  } finally {
    timer.cancel()
  }
}
