import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type {
  ContainerIdentity,
  ContainerRuntime,
  ContainerSpec,
  PodIdentity,
  RunningContainer,
} from '../container-runtime.ts'
import { findInCatalogue, hostImages, type ImageCatalogue } from './image-catalogue.ts'
import { LogFile, readLogFile } from './log-file.ts'
import { describeMachine } from './machine.ts'
import { createPathMapper, linkFile, linkMounts } from './mounts.ts'
import { dialPort, probeNetwork } from './network.ts'
import { createProcessContainer } from './process-container.ts'
import { markerVariable, ProcessRegistry } from './process-registry.ts'
import { readUsage } from './process-usage.ts'
import { spawnGroup } from './spawn-group.ts'
import { writeVolume } from './volume-files.ts'

export interface ProcessRuntimeOptions {
  /** Volumes, logs and the ids of processes. One runtime at a time may use it. */
  readonly directory: string
  /** Beside, and before, the images that mean this machine's shell. */
  readonly images?: ImageCatalogue
}

interface StartedContainer {
  readonly spec: ContainerSpec
  readonly startedAt: number
  cpuNanoseconds: number
}

/** Where processes look for programs. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Containers begin in `/`, so `bin/sh` is found from there; ours begin in a directory of their own. */
function locateProgram([file = '', ...args]: readonly string[], cwd: string, root: string): string[] {
  const isRelative = file.includes('/') && !isAbsolute(file)
  return [isRelative && !existsSync(join(cwd, file)) ? join(root, file) : file, ...args]
}

/**
 * Containers that are processes of this machine, with all that this user may do: nothing isolates them. An image is
 * looked up in a catalogue; volumes are directories, and mount paths are mapped to them (see `mounts.ts`).
 */
export function createProcessRuntime(options: ProcessRuntimeOptions): ContainerRuntime {
  const { directory } = options
  const catalogue: ImageCatalogue = { ...hostImages, ...options.images }
  const registry = new ProcessRegistry(join(directory, 'processes'), directory)
  const logs = new Map<string, LogFile>()
  /** By Pod, then by volume: where it is. */
  const volumes = new Map<string, Map<string, string>>()
  const running = new Map<RunningContainer, StartedContainer>()
  let isClosed = false
  let count = 0

  const podDirectory = ({ uid }: PodIdentity) => join(directory, 'pods', uid)
  const logPath = ({ pod, name, attempt }: ContainerIdentity) =>
    join(podDirectory(pod), 'logs', name, `${attempt}.log`)

  async function startContainer(spec: ContainerSpec): Promise<RunningContainer> {
    const image = findInCatalogue(catalogue, spec.image)
    if (!image) throw new Error(`image ${spec.image} is not in the catalogue`)
    const { pod, name, attempt } = spec
    const home = join(podDirectory(pod), 'containers', name)
    const root = join(home, 'root')
    mkdirSync(root, { recursive: true })
    linkMounts(root, spec.mounts, volume => volumes.get(pod.uid)?.get(volume))
    const messagePath = join(home, `termination-log-${attempt}`)
    linkFile(root, spec.terminationMessagePath, messagePath)
    const mapPaths = createPathMapper(root, [
      ...spec.mounts.map(({ mountPath }) => mountPath),
      spec.terminationMessagePath,
    ])
    const env: Record<string, string> = {
      PATH: process.env.PATH ?? defaultPath,
      HOME: home,
      HOSTNAME: pod.name,
    }
    Object.assign(env, image.env)
    for (const [variable, value] of spec.env) env[variable] = mapPaths(value)
    env.COXSWAIN_ROOT = root
    env[markerVariable] = directory
    if (spec.tty) env.TERM ??= 'xterm'
    const mapped = spec.workingDir === undefined ? undefined : mapPaths(spec.workingDir)
    const isMapped = mapped !== spec.workingDir
    const cwd =
      mapped === undefined
        ? (image.root ?? home)
        : isMapped || !image.root
          ? mapped
          : join(image.root, mapped)
    const command = [
      ...(spec.command ?? image.command ?? []),
      ...(spec.args ?? (spec.command ? [] : (image.args ?? []))),
    ]
    const locate = (words: readonly string[]) => locateProgram(words.map(mapPaths), cwd, image.root ?? '/')
    const id = `${pod.uid}-${name}-${attempt}`
    const shared = {
      cwd,
      env,
      registry,
      ...(spec.user !== undefined && { user: spec.user }),
      ...(spec.group !== undefined && { group: spec.group }),
    }
    if (isClosed) throw new Error('the node is being stopped')
    const { stdin, tty } = spec
    const group = await spawnGroup({ ...shared, id, command: locate(command), stdin, tty })
    const log = new LogFile(logPath(spec), () => Date.now())
    logs.set(logPath(spec), log)
    const container = createProcessContainer({
      id,
      group,
      log,
      messagePath,
      stdinOnce: spec.stdinOnce,
      beside: words => ({ ...shared, id: `${id}-exec-${count++}`, command: locate(words) }),
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
      mkdirSync(join(directory, 'pods'), { recursive: true })
      registry.killAll()
    },
    describeNode: () => describeMachine(directory),
    async keepPods(uids) {
      for (const uid of readdirSync(join(directory, 'pods')))
        if (!uids.has(uid)) rmSync(join(directory, 'pods', uid), { recursive: true, force: true })
    },
    async findImage(image) {
      if (findInCatalogue(catalogue, image)) return { found: true, id: `process://${image}` }
      return { found: false, message: `image ${JSON.stringify(image)} is not in the catalogue of this node` }
    },
    async writeVolumes(pod, wanted) {
      const places = new Map<string, string>()
      for (const volume of wanted)
        places.set(volume.name, writeVolume(join(podDirectory(pod), 'volumes'), volume))
      volumes.set(pod.uid, places)
    },
    startContainer,
    readLog: (container, logOptions) =>
      readLogFile(logPath(container), logs.get(logPath(container)), logOptions),
    probe: async (_pod, probe) => await probeNetwork(probe),
    dial: async (_pod, port) => await dialPort(port),
    async removePod(pod) {
      volumes.delete(pod.uid)
      rmSync(podDirectory(pod), { recursive: true, force: true })
    },
    async usage() {
      const time = Date.now()
      const now = readUsage()
      return Array.from(running, ([{ id }, container]) => {
        const { cpuNanoseconds = 0, memoryBytes = 0 } = now.get(id) ?? {}
        // What ended without anybody who waited for it is not counted any more.
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
