import { AsyncQueue, type Clock, encodeText } from '@coxswain/kit'
import type {
  ContainerExit,
  ContainerIdentity,
  ContainerRuntime,
  ContainerSpec,
  PodIdentity,
  PodVolume,
  PortStream,
  ProbeOutcome,
  ProcessIo,
  RunningContainer,
} from '../container-runtime.ts'
import { MemoryLog, readMemoryLog } from '../logs/memory-log.ts'

/** A container that is a function. The number that it resolves with is its exit code, otherwise 0; a throw is exit code 1. */
export type ImageFunction = (container: FunctionContext) => Promise<unknown>

/** What a container function can use in place of a process's environment. */
export interface FunctionContext {
  readonly pod: PodIdentity
  readonly name: string
  /** 0, then one more with each restart. */
  readonly attempt: number
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly env: ReadonlyMap<string, string>
  readonly clock: Clock
  /** Its standard input. Empty unless the container has `stdin`. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Prints one line. */
  print(line: string): void
  printError(line: string): void
  /** A file of a mounted volume, by its path in the container; undefined when there is none. */
  readFile(path: string): Uint8Array | undefined
  /** Accepts connections to a port of the Pod until the container ends. */
  listen(port: number, onConnection: (connection: PortStream) => void): void
  /** Handles commands run in the container (exec, and probes and hooks that are commands). @default exit code 127 */
  onExec(run: (command: readonly string[], io: ProcessIo) => Promise<number>): void
  /** Aborts when the container is asked to stop; after its grace period it counts as killed. */
  readonly signal: AbortSignal
}

/** Options of {@link createInProcessRuntime}. */
export interface InProcessRuntimeOptions {
  /** By image, exactly as Pods name them. */
  readonly images: Readonly<Record<string, ImageFunction>>
  readonly clock: Clock
  /** Runs the containers of all other images, each Pod with an address of its own. @default they cannot be pulled */
  readonly others?: ContainerRuntime
}

interface InProcessPod {
  volumes: readonly PodVolume[]
  readonly listeners: Map<number, (connection: PortStream) => void>
}

const killedCode = 137

/** Containers that are functions of this process: for tests, on a virtual clock too, and for the browser. */
export function createInProcessRuntime({ images, clock, others }: InProcessRuntimeOptions): ContainerRuntime {
  const pods = new Map<string, InProcessPod>()
  const logs = new Map<string, MemoryLog>()
  const running = new Set<RunningContainer>()
  const podOf = ({ uid }: PodIdentity): InProcessPod => {
    let pod = pods.get(uid)
    if (!pod) {
      pod = { volumes: [], listeners: new Map() }
      pods.set(uid, pod)
    }
    return pod
  }
  const logKey = ({ pod, name, attempt }: ContainerIdentity) => `${pod.uid}/${name}/${attempt}`

  async function startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<RunningContainer> {
    const run = Object.hasOwn(images, spec.image) ? images[spec.image] : undefined
    if (!run && others) return await others.startContainer(spec, signal)
    if (!run) throw new Error(`image ${spec.image} is not known`)
    const log = new MemoryLog(clock)
    logs.set(logKey(spec), log)
    const container = startFunction(run, spec, podOf(spec.pod), log, clock)
    running.add(container)
    void container.exited.then(() => running.delete(container))
    return container
  }

  return {
    name: 'in-process',
    ...(others && { hasPodAddresses: true }),
    async start(time) {
      await others?.start(time)
    },
    async keepPods() {},
    async findImage(image) {
      if (Object.hasOwn(images, image)) return { found: true, id: `in-process://${image}` }
      return (
        (await others?.findImage(image)) ?? {
          found: false,
          message: `image ${JSON.stringify(image)} is not known`,
        }
      )
    },
    async writeVolumes(pod, volumes) {
      podOf(pod).volumes = volumes
    },
    startContainer,
    readLog(container, options) {
      const log = logs.get(logKey(container))
      return others && !log ? others.readLog(container, options) : readMemoryLog(log, options)
    },
    probe: async (pod, { port, type }): Promise<ProbeOutcome> => {
      const success = podOf(pod).listeners.has(port)
      const message = success ? '' : `dial tcp: port ${port}: connect: connection refused`
      return { success, message: type === 'http' && message ? `Get: ${message}` : message }
    },
    async dial(pod, port) {
      const listener = podOf(pod).listeners.get(port)
      if (!listener) throw new Error(`dial tcp: port ${port}: connect: connection refused`)
      const [near, far] = createPipe()
      listener(far)
      return near
    },
    async removePod(pod) {
      pods.delete(pod.uid)
      for (const key of logs.keys()) if (key.startsWith(`${pod.uid}/`)) logs.delete(key)
      await others?.removePod(pod)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map(container => container.stop(0)))
      await others?.[Symbol.asyncDispose]()
    },
  }
}

function startFunction(
  run: ImageFunction,
  spec: ContainerSpec,
  pod: InProcessPod,
  log: MemoryLog,
  clock: Clock,
): RunningContainer {
  const asked = new AbortController()
  const over = Promise.withResolvers<ContainerExit>()
  const stdin = new AsyncQueue<Uint8Array>()
  const listeners = new Set<ProcessIo>()
  const ports: number[] = []
  let exec: ((command: readonly string[], io: ProcessIo) => Promise<number>) | undefined
  const print = (stream: 'stdout' | 'stderr', line: string) => {
    if (log.hasEnded) return
    log.print(stream, line)
    for (const io of listeners) void io[stream](encodeText(`${line}\n`))
  }
  if (!spec.stdin) stdin.end()
  const context: FunctionContext = {
    pod: spec.pod,
    name: spec.name,
    attempt: spec.attempt,
    command: spec.command ?? [],
    args: spec.args ?? [],
    env: spec.env,
    clock,
    stdin,
    print: line => print('stdout', line),
    printError: line => print('stderr', line),
    readFile: path => findFile(spec, pod.volumes, path),
    listen(port, onConnection) {
      ports.push(port)
      pod.listeners.set(port, onConnection)
    },
    onExec(answer) {
      exec = answer
    },
    signal: asked.signal,
  }
  const end = (exit: ContainerExit) => {
    if (log.hasEnded) return
    log.end()
    for (const port of ports) pod.listeners.delete(port)
    stdin.end()
    asked.abort()
    over.resolve(exit)
  }
  const call = async (): Promise<ContainerExit> => {
    try {
      const result = await run(context)
      return { exitCode: typeof result === 'number' ? result : 0 }
    } catch (error) {
      if (asked.signal.aborted) return { exitCode: 143, signal: 15 }
      print('stderr', error instanceof Error ? error.message : String(error))
      return { exitCode: 1 }
    }
  }
  void call().then(end)
  return {
    id: `${spec.pod.uid}-${spec.name}-${spec.attempt}`,
    exited: over.promise,
    async stop(grace) {
      asked.abort()
      const timer = clock.after(grace, () => end({ exitCode: killedCode, signal: 9 }))
      await over.promise
      timer.cancel()
    },
    async exec(command, io) {
      return exec ? await exec(command, io) : 127
    },
    async attach(io) {
      listeners.add(io)
      const left = new Promise<void>(resolve => {
        if (io.signal.aborted) resolve()
        io.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      const feed = async () => {
        for await (const chunk of io.stdin ?? []) stdin.push(chunk)
        if (spec.stdinOnce) stdin.end()
      }
      void feed().catch(() => {}) // the client has disconnected
      await Promise.race([over.promise, left])
      listeners.delete(io)
    },
  }
}

function findFile(spec: ContainerSpec, volumes: readonly PodVolume[], path: string): Uint8Array | undefined {
  for (const { volume, mountPath, subPath } of spec.mounts) {
    if (path !== mountPath && !path.startsWith(`${mountPath}/`)) continue
    const found = volumes.find(({ name }) => name === volume)
    if (found?.type !== 'files') continue
    const within = [subPath, path.slice(mountPath.length + 1)].filter(Boolean).join('/')
    return found.files.get(within)?.data
  }
  return undefined
}

/** Two ends of an in-memory connection. */
function createPipe(): [PortStream, PortStream] {
  const [there, back] = [new AsyncQueue<Uint8Array>(), new AsyncQueue<Uint8Array>()]
  const endOf = (from: AsyncQueue<Uint8Array>, to: AsyncQueue<Uint8Array>): PortStream => ({
    data: from,
    write: async chunk => void to.push(chunk),
    end: () => to.end(),
    destroy() {
      from.end()
      to.end()
    },
  })
  return [endOf(back, there), endOf(there, back)]
}
