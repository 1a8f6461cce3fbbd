import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type {
  ContainerIdentity,
  ContainerRuntime,
  ContainerSpec,
  PodIdentity,
  RunningContainer,
} from '../container-runtime.ts'
import { ConfigError } from '../kubelet/environment.ts'
import { measureDisk } from './disk-usage.ts'
import { findInCatalogue, hostImages, type ImageCatalogue } from './image-catalogue.ts'
import { LogFile } from './log-file.ts'
import { readLogFile } from './log-reader.ts'
import { describeMachine, measureMachine } from './machine.ts'
import type { Isolation } from './namespaces.ts'
import { dialPort, probeNetwork } from './network.ts'
import { OutputPacer } from './output-pacer.ts'
import { createProcessContainer } from './process-container.ts'
import { markerVariable, ProcessRegistry } from './process-registry.ts'
import { readUsage } from './process-usage.ts'
import { spawnGroup } from './spawn-group.ts'
import { makeSurroundings } from './surroundings.ts'
import { findUnsupported } from './unsupported.ts'
import { type WrittenFiles, writeVolume } from './volume-files.ts'

/** Options of {@link createProcessRuntime}. */
export interface ProcessRuntimeOptions {
  /** Volumes, logs and the ids of processes. One runtime at a time may use it. */
  readonly directory: string
  /** Images in addition to `hostImages`, which they override. */
  readonly images?: ImageCatalogue
  /** How containers are isolated; `chooseIsolation` finds what this machine supports. @default 'none' */
  readonly isolation?: Isolation
}

/** Of one Pod. */
interface WrittenVolumes {
  /** By volume: its path. */
  readonly places: ReadonlyMap<string, string>
  readonly written: WrittenFiles
}

interface StartedContainer {
  readonly spec: ContainerSpec
  readonly startedAt: number
  cpuNanoseconds: number
}

/** The default PATH. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** @throws ConfigError when it would run as root and may not, in the kubelet's words. */
function refuseRoot({ runAsNonRoot, user, pod, name }: ContainerSpec): void {
  if (!runAsNonRoot || process.getuid?.() !== 0 || (user !== undefined && user !== 0)) return
  const who = `(pod: "${pod.name}_${pod.namespace}(${pod.uid})", container: ${name})`
  throw new ConfigError(
    user === 0
      ? `container's runAsUser breaks non-root policy ${who}`
      : `container has runAsNonRoot and image will run as root ${who}`,
  )
}

function userOf({ user, group }: ContainerSpec): RunningContainer['user'] {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  if (uid === undefined || gid === undefined) return undefined
  if (uid !== 0) return { uid, gid, supplementalGroups: process.getgroups?.() ?? [] }
  return { uid: user ?? 0, gid: group ?? 0 }
}

/** Of earlier attempts, only the last one is kept. */
async function forgetLogs(directory: string, attempt: number): Promise<void> {
  const files = attempt < 2 ? [] : await readdir(directory).catch(() => [])
  for (const file of files)
    if (Number.parseInt(file, 10) < attempt - 1) await rm(join(directory, file), { force: true })
}

/**
 * Containers that are processes of this machine, with all of this user's privileges: namespaces give them files, processes and a hostname
 * of their own, but are not a sandbox. An image is looked up in a catalogue; volumes are directories, mounted at their paths (see
 * `container-root.ts`) or, without namespaces, linked (see `mounts.ts`).
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): ContainerRuntime {
  const { directory, isolation = 'none' } = options
  const catalogue: ImageCatalogue = { ...hostImages, ...options.images }
  const registry = new ProcessRegistry(join(directory, 'processes'), directory)
  const logs = new Map<string, LogFile>()
  const volumes = new Map<string, WrittenVolumes>()
  const running = new Map<RunningContainer, StartedContainer>()
  const pacer = new OutputPacer()
  let isClosed = false
  let count = 0

  const podDirectory = ({ uid }: PodIdentity) => join(directory, 'pods', uid)
  const logPath = ({ pod, name, attempt }: ContainerIdentity) =>
    join(podDirectory(pod), 'logs', name, `${attempt}.log`)

  async function startContainer(spec: ContainerSpec): Promise<RunningContainer> {
    const image = findInCatalogue(catalogue, spec.image)
    if (!image) throw new Error(`image ${spec.image} is not in the catalogue`)
    const { pod, name, attempt } = spec
    refuseRoot(spec)
    const home = join(podDirectory(pod), 'containers', name)
    // Every attempt starts with an empty directory, and keeps the log of the previous one.
    await rm(home, { recursive: true, force: true })
    await forgetLogs(dirname(logPath(spec)), attempt)
    mkdirSync(home, { recursive: true })
    const messagePath = join(podDirectory(pod), 'containers', `${name}-termination-log`)
    rmSync(messagePath, { force: true })
    const surroundings = makeSurroundings(isolation, {
      spec,
      image,
      home,
      messagePath,
      volumePath: volume => volumes.get(pod.uid)?.places.get(volume),
    })
    const env: Record<string, string> = {
      PATH: process.env.PATH ?? defaultPath,
      HOME: surroundings.home,
      HOSTNAME: spec.hostname ?? hostname(),
    }
    Object.assign(env, image.env)
    for (const [variable, value] of spec.env) env[variable] = surroundings.mapPaths(value)
    env.COXSWAIN_ROOT = surroundings.root
    env[markerVariable] = directory
    if (spec.tty) env.TERM ??= 'xterm'
    const command = [
      ...(spec.command ?? image.command ?? []),
      ...(spec.args ?? (spec.command ? [] : (image.args ?? []))),
    ]
    const id = `${pod.uid}-${name}-${attempt}`
    const { locate, wrap, wrapBeside } = surroundings
    const shared = {
      cwd: surroundings.workingDir,
      env,
      registry,
      ...(spec.user !== undefined && { user: spec.user }),
      ...(spec.group !== undefined && { group: spec.group }),
    }
    if (isClosed) throw new Error('the node is being stopped')
    const { stdin, tty } = spec
    const group = await spawnGroup({
      ...shared,
      ...(wrap && { wrapper: wrap(env) }),
      id,
      command: locate(command),
      stdin,
      tty,
      endsTogether: true,
    })
    const log = new LogFile(logPath(spec), () => Date.now())
    logs.set(logPath(spec), log)
    const container = createProcessContainer({
      id,
      group,
      log,
      pacer,
      messagePath,
      stdinOnce: spec.stdinOnce,
      user: userOf(spec),
      beside: words => ({
        ...shared,
        ...(wrapBeside && { wrapper: wrapBeside(group.child.pid!, env) }),
        id: `${id}-exec-${count++}`,
        command: locate(words),
      }),
    })
    running.set(container, { spec, startedAt: Date.now(), cpuNanoseconds: 0 })
    void container.exited.then(() => {
      running.delete(container)
      logs.delete(logPath(spec))
    })
    if (isClosed) await container.stop(0)
    return container
  }

  return {
    name: 'process',
    async start() {
      isClosed = false
      // Other users may open paths in there that they know, but not list them.
      mkdirSync(directory, { recursive: true })
      chmodSync(directory, 0o711)
      mkdirSync(join(directory, 'pods'), { recursive: true })
      chmodSync(join(directory, 'pods'), 0o711)
      registry.killAll()
    },
    describeNode: () => ({ ...describeMachine(directory), isolation }),
    async keepPods(uids) {
      for (const uid of readdirSync(join(directory, 'pods')))
        if (!uids.has(uid)) await rm(join(directory, 'pods', uid), { recursive: true, force: true })
    },
    async findImage(image) {
      if (findInCatalogue(catalogue, image)) return { found: true, id: `process://${image}` }
      return { found: false, message: `image ${JSON.stringify(image)} is not in the catalogue of this node` }
    },
    async writeVolumes(pod, wanted) {
      const places = new Map<string, string>()
      const within = join(podDirectory(pod), 'volumes')
      const known = volumes.get(pod.uid)
      const written = known?.written ?? new Map()
      for (const volume of wanted) {
        try {
          places.set(volume.name, writeVolume(within, volume, written))
        } catch (error) {
          const text = error instanceof Error ? error.message : String(error)
          throw new Error(`MountVolume.SetUp failed for volume "${volume.name}" : ${text}`, { cause: error })
        }
      }
      volumes.set(pod.uid, { places, written })
    },
    startContainer,
    readLog: (container, logOptions) =>
      readLogFile(logPath(container), logs.get(logPath(container)), logOptions),
    probe: async (_pod, probe) => await probeNetwork(probe),
    dial: async (_pod, port) => await dialPort(port),
    async removePod(pod) {
      volumes.delete(pod.uid)
      await rm(podDirectory(pod), { recursive: true, force: true })
    },
    nodeUsage: () => measureMachine(directory),
    async diskUsage(pod) {
      const base = podDirectory(pod)
      const measureEach = async (...path: string[]) => {
        const names = await readdir(join(base, ...path)).catch(() => [])
        const sizes = names.map(async name => [name, await measureDisk(join(base, ...path, name))] as const)
        return new Map(await Promise.all(sizes))
      }
      const [inVolumes, written, printed] = await Promise.all([
        measureEach('volumes'),
        measureEach('containers'),
        measureEach('logs'),
      ])
      for (const [name, bytes] of printed) written.set(name, (written.get(name) ?? 0) + bytes)
      return { volumes: inVolumes, containers: written }
    },
    findUnsupported: pod => findUnsupported(pod, { uid: process.getuid?.() ?? 0, isolation }),
    async usage() {
      const time = Date.now()
      const now = readUsage()
      return Array.from(running, ([{ id }, container]) => {
        const { cpuNanoseconds = 0, memoryBytes = 0 } = now.get(id) ?? {}
        // The usage of orphaned processes that have ended is no longer counted.
        container.cpuNanoseconds = Math.max(container.cpuNanoseconds, cpuNanoseconds)
        const { spec, startedAt } = container
        return {
          pod: spec.pod,
          container: spec.name,
          time,
          startedAt,
          cpuNanoseconds: container.cpuNanoseconds,
          memoryBytes,
        }
      })
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await Promise.all([...running.keys()].map(container => container.stop(0)))
      registry.killAll()
    },
  }
}
