import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { Clock } from '@coxswain/kit'

/** Runs the containers of a node. The kubelet decides what has to run; a runtime runs it. */
export interface ContainerRuntime extends AsyncDisposable {
  /** As in `containerID: NAME://...`. */
  readonly name: string
  /**
   * Nothing runs. Probes and hooks succeed without being executed, no tokens are requested, volumes of every type are available, and
   * each Pod has an address of its own. @default false
   */
  readonly isSimulated?: boolean
  /** Whether each Pod has an address of its own, not its node's. @default that of `isSimulated` */
  readonly hasPodAddresses?: boolean
  /** Ends what an earlier life of this runtime has left behind. Called before everything else, once in a life. */
  start(clock: Clock): Promise<void>
  /** The capacity and system information of its nodes. @default a large simulated machine */
  describeNode?(): NodeFacts
  /** Removes the data of Pods whose uid is not among these. */
  keepPods(uids: ReadonlySet<string>): Promise<void>
  /** Looks an image up. */
  findImage(image: string): Promise<FoundImage>
  /** Pulls an image that the node does not have. Rejects when `signal` aborts. @default findImage */
  pullImage?(image: string, signal: AbortSignal): Promise<FoundImage>
  /** Creates the directories of a Pod's volumes, and rewrites their files where they differ. */
  writeVolumes(pod: PodIdentity, volumes: readonly PodVolume[]): Promise<void>
  /** Rejects when the container cannot be started: the message is for the user. Aborting `signal` cancels a slow start. */
  startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<RunningContainer>
  /**
   * Takes over a container that outlived the kubelet which started it, at `startedAt` in milliseconds since the epoch. A
   * runtime that has this lets its containers run when it is disposed. @default containers end with the runtime
   */
  adoptContainer?(spec: ContainerSpec, startedAt: number): RunningContainer
  /** The output of one attempt of a container. Throws when nothing is known of it. */
  readLog(container: ContainerIdentity, options: LogOptions): AsyncIterable<Uint8Array>
  /** Probes a port of a Pod. */
  probe(pod: PodIdentity, probe: NetworkProbe): Promise<ProbeOutcome>
  /** Connects to a port of a Pod. Rejects when nothing listens there. */
  dial(pod: PodIdentity, port: number): Promise<PortStream>
  /** Deletes the volumes and logs of a Pod that no longer runs. */
  removePod(pod: PodIdentity): Promise<void>
  /** The disk usage of a Pod. @default not measured, and limits are not enforced */
  diskUsage?(pod: PodIdentity): Promise<DiskUsage>
  /** The fields of a Pod that have no effect on this runtime; they are reported in an event. @default none */
  findUnsupported?(pod: DeepReadonly<Pod>): readonly string[]
  /** The usage of the node. @default the sum of its containers */
  nodeUsage?(): NodeUsage
  /** What the running containers use, at least those of `pods`. @default unknown */
  usage?(pods: readonly PodView[]): Promise<readonly ContainerUsage[]>
}

/** The capacity and system information of a runtime's nodes. */
export interface NodeFacts {
  /** `cpu`, `memory`, `pods`, `ephemeral-storage` as quantities. */
  readonly capacity: Readonly<Record<string, string>>
  readonly osImage: string
  readonly kernelVersion?: string
  /** As Go names them. @default 'linux' */
  readonly operatingSystem?: string
  /** As Go names them. @default 'amd64' */
  readonly architecture?: string
  readonly machineID?: string
  /** How containers are isolated: `namespaces` or `none`. @default not reported */
  readonly isolation?: string
  /** The text of /etc/hosts and /etc/resolv.conf. @default containers have none of their own */
  readonly etc?: { readonly hosts: string; readonly resolvConf: string }
  readonly bootID?: string
}

/** The usage of a whole node, including processes that are not in containers. */
export interface NodeUsage {
  /** When it was measured, in milliseconds since the epoch. */
  readonly time: number
  /** When the machine was started, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Processor time since then, in nanoseconds. */
  readonly cpuNanoseconds: number
  /** In bytes: the working set, and what is still available. */
  readonly memoryBytes: number
  readonly availableMemoryBytes: number
  readonly disk: { readonly capacityBytes: number; readonly availableBytes: number }
}

/** The CPU and memory usage of one container. */
export interface ContainerUsage {
  readonly pod: PodIdentity
  readonly container: string
  /** When it was measured, in milliseconds since the epoch. */
  readonly time: number
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Processor time since the container's start, in nanoseconds; never goes back. */
  readonly cpuNanoseconds: number
  /** The rate at which it uses processor time now. @default computed from `cpuNanoseconds` */
  readonly nanoCores?: number
  /** The memory that it works with, in bytes. */
  readonly memoryBytes: number
}

/** In bytes. */
export interface DiskUsage {
  /** By volume, for those whose lifetime is the Pod's. */
  readonly volumes: ReadonlyMap<string, number>
  /** By container: its writable layer and its logs. */
  readonly containers: ReadonlyMap<string, number>
}

/** Identifies a Pod to a runtime. */
export interface PodIdentity {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

/** One attempt of a container of a Pod. */
export interface ContainerIdentity {
  readonly pod: PodIdentity
  readonly name: string
  /** 0, then one more with each restart. */
  readonly attempt: number
}

/** A sidecar is an init container that is always restarted. */
export type ContainerRole = 'init' | 'sidecar' | 'main' | 'ephemeral'

/** The result of looking up or pulling an image. */
export type FoundImage =
  | { readonly found: true; readonly id: string; readonly sizeBytes?: number }
  | { readonly found: false; readonly message: string }

/** A container to start. */
export interface ContainerSpec extends ContainerIdentity {
  readonly role: ContainerRole
  /** Of the container, or the Pod's where it has none. */
  readonly restartPolicy: string
  /** The Pod's. */
  readonly annotations: Readonly<Record<string, string>>
  readonly image: string
  /** Both from the Pod, with variables expanded; the image's own where they are missing. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env: ReadonlyMap<string, string>
  readonly workingDir?: string
  readonly mounts: readonly VolumeMountSpec[]
  readonly stdin: boolean
  readonly stdinOnce: boolean
  readonly tty: boolean
  /** Where the container may write its termination message. */
  readonly terminationMessagePath: string
  readonly user?: number
  readonly group?: number
  /** The container may not run as root. */
  readonly runAsNonRoot: boolean
  /** @default the machine's */
  readonly hostname?: string
  /** Files by their paths in the container, unless a volume is mounted there: /etc/hosts and the like. @default the machine's */
  readonly files?: ReadonlyMap<string, string>
  /** It shares a PID namespace. @default false */
  readonly sharesProcesses?: boolean
}

/** A mount of a volume in a container. */
export interface VolumeMountSpec {
  readonly volume: string
  readonly mountPath: string
  readonly subPath?: string
  readonly readOnly: boolean
}

/** A volume of a Pod, with its content resolved. */
export type PodVolume =
  | { readonly type: 'directory'; readonly name: string }
  /** `hostPathType` as in a Pod's volume, or `Existing` for anything that exists. */
  | { readonly type: 'host'; readonly name: string; readonly path: string; readonly hostPathType: string }
  | { readonly type: 'files'; readonly name: string; readonly files: ReadonlyMap<string, VolumeFile> }

/** A file of a volume. */
export interface VolumeFile {
  readonly data: Uint8Array
  readonly mode: number
  /** The user that owns it, where the runtime can change owners. @default the user that runs the node */
  readonly owner?: number
}

/** A container that has been started. */
export interface RunningContainer {
  /** Unique, without the runtime's name. */
  readonly id: string
  /** Nothing runs: probes and hooks succeed without being asked. @default that of the runtime */
  readonly isSimulated?: boolean
  /** The user it runs as. @default unknown */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: number[] }
  /** Resolves when all of its processes have ended. */
  readonly exited: Promise<ContainerExit>
  /** Resolves when its probes succeed; simulated containers only, since those cannot be probed. @default from its start */
  readonly ready?: Promise<void>
  /** Asks it to stop, and kills it after `grace` milliseconds. Resolves when it has ended. A second call may only shorten the grace period. */
  stop(grace: number, stopSignal?: string): Promise<void>
  /** Runs another command in the container. Rejects when it cannot be started. */
  exec(command: readonly string[], io: ProcessIo): Promise<number>
  /** Attaches to its streams until it ends or `io.signal` aborts. */
  attach(io: ProcessIo): Promise<void>
}

/** How a container ended. */
export interface ContainerExit {
  readonly exitCode: number
  readonly signal?: number
  /** Its termination message. */
  readonly message?: string
}

/** The streams of a command, as its caller sees them. */
export interface ProcessIo {
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Resolves when more can be written. */
  stdout(chunk: Uint8Array): Promise<void>
  stderr(chunk: Uint8Array): Promise<void>
  readonly tty: boolean
  readonly sizes?: AsyncIterable<TerminalSize>
  /** Aborts when the caller has gone away. */
  readonly signal: AbortSignal
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

/** Which part of a log to read. */
export interface LogOptions {
  /** Continues until the container has ended. */
  readonly follow: boolean
  readonly timestamps: boolean
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly tailLines?: number
  readonly limitBytes?: number
  /** `Stdout` or `Stderr`. @default both */
  readonly stream?: string
  readonly signal: AbortSignal
}

/** An HTTP, TCP or gRPC probe. */
export type NetworkProbe = {
  readonly host?: string
  readonly port: number
  /** Milliseconds. */
  readonly timeout: number
} & (
  | { readonly type: 'tcp' }
  /** The health protocol of gRPC. */
  | { readonly type: 'grpc'; readonly service: string }
  | {
      readonly type: 'http'
      readonly scheme: string
      readonly path: string
      readonly headers: readonly { readonly name: string; readonly value: string }[]
    }
)

/** The result of one probe attempt. */
export interface ProbeOutcome {
  readonly success: boolean
  readonly message: string
  /** It has succeeded, and the message is reported as a warning. */
  readonly isWarning?: boolean
  /** It could not be executed: that counts neither as a success nor as a failure. */
  readonly isError?: boolean
}

/** A connection to a port. */
export interface PortStream {
  readonly data: AsyncIterable<Uint8Array>
  write(chunk: Uint8Array): Promise<void>
  /** Ends the writing side; reading continues. */
  end(): void
  destroy(): void
}
