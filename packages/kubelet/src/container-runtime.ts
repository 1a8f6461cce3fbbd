import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { Clock } from '@coxswain/kit'

/** What runs the containers of a node. The agent decides what has to run; a runtime runs it. */
export interface ContainerRuntime extends AsyncDisposable {
  /** As in `containerID: NAME://...`. */
  readonly name: string
  /**
   * Nothing runs. Probes and hooks succeed without being asked, no tokens are made, volumes of every type are there, and
   * each Pod has an address of its own. @default false
   */
  readonly isSimulated?: boolean
  /** Whether each Pod has an address of its own, not its node's. @default that of `isSimulated` */
  readonly hasPodAddresses?: boolean
  /** Ends what an earlier life of this runtime has left behind. Called before everything else, once in a life. */
  start(clock: Clock): Promise<void>
  /** What its nodes are made of. @default much of everything */
  describeNode?(): NodeFacts
  /** Forgets the Pods of earlier lives that are not among these, by their uids. */
  keepPods(uids: ReadonlySet<string>): Promise<void>
  /** What stands for an image. */
  findImage(image: string): Promise<FoundImage>
  /** Gets an image that a node has not had yet. Rejects when `signal` aborts. @default findImage */
  pullImage?(image: string, signal: AbortSignal): Promise<FoundImage>
  /** Makes the directories of a Pod's volumes, and writes their files anew where they differ. */
  writeVolumes(pod: PodIdentity, volumes: readonly PodVolume[]): Promise<void>
  /** Rejects when the container cannot be started: the message is for the user. Where starting takes time, `signal` ends it. */
  startContainer(spec: ContainerSpec, signal: AbortSignal): Promise<RunningContainer>
  /**
   * Takes over a container that outlived the agent which started it, at `startedAt` in milliseconds since the epoch. A
   * runtime that has this lets its containers run when it is disposed. @default they have ended
   */
  adoptContainer?(spec: ContainerSpec, startedAt: number): RunningContainer
  /** What a container printed in one of its lives. Throws when nothing is known of it. */
  readLog(container: ContainerIdentity, options: LogOptions): AsyncIterable<Uint8Array>
  /** Knocks on a port of a Pod. */
  probe(pod: PodIdentity, probe: NetworkProbe): Promise<ProbeOutcome>
  /** Connects to a port of a Pod. Rejects when nobody listens. */
  dial(pod: PodIdentity, port: number): Promise<PortStream>
  /** Forgets a Pod, of which nothing runs any more: its volumes and logs. */
  removePod(pod: PodIdentity): Promise<void>
  /** What a Pod has on the disk. @default nobody knows, and limits do not hold */
  diskUsage?(pod: PodIdentity): Promise<DiskUsage>
  /** What a Pod asks for that has no effect here: people are told. @default nothing */
  findUnsupported?(pod: DeepReadonly<Pod>): readonly string[]
  /** What its node uses. @default what its containers use */
  nodeUsage?(): NodeUsage
  /** What the running containers use, at least those of `pods`. @default unknown */
  usage?(pods: readonly PodView[]): Promise<readonly ContainerUsage[]>
}

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
  /** What containers have of their own: `namespaces` or `none`. @default not reported */
  readonly isolation?: string
  /** The text of /etc/hosts and /etc/resolv.conf. @default containers have none of their own */
  readonly etc?: { readonly hosts: string; readonly resolvConf: string }
  readonly bootID?: string
}

/** What a whole node uses, whatever it is that uses it. */
export interface NodeUsage {
  /** When it was looked at, in milliseconds since the epoch. */
  readonly time: number
  /** When the machine was started, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Processor time since then, in nanoseconds. */
  readonly cpuNanoseconds: number
  /** In bytes: what is worked with, and what could be had. */
  readonly memoryBytes: number
  readonly availableMemoryBytes: number
  readonly disk: { readonly capacityBytes: number; readonly availableBytes: number }
}

export interface ContainerUsage {
  readonly pod: PodIdentity
  readonly container: string
  /** When it was looked at, in milliseconds since the epoch. */
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
  /** By volume: what is in those that last as long as the Pod. */
  readonly volumes: ReadonlyMap<string, number>
  /** By container: what it has written elsewhere, and its logs. */
  readonly containers: ReadonlyMap<string, number>
}

export interface PodIdentity {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

export interface ContainerIdentity {
  readonly pod: PodIdentity
  readonly name: string
  /** Which life it is: 0, then one more with each restart. */
  readonly attempt: number
}

/** A sidecar is an init container that is always restarted. */
export type ContainerRole = 'init' | 'sidecar' | 'main' | 'ephemeral'

export type FoundImage =
  | { readonly found: true; readonly id: string; readonly sizeBytes?: number }
  | { readonly found: false; readonly message: string }

export interface ContainerSpec extends ContainerIdentity {
  readonly role: ContainerRole
  /** Of the container, or the Pod's where it has none. */
  readonly restartPolicy: string
  /** The Pod's. */
  readonly annotations: Readonly<Record<string, string>>
  readonly image: string
  /** Both as the Pod says, with variables put in; the image has its own where they are missing. */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env: ReadonlyMap<string, string>
  readonly workingDir?: string
  readonly mounts: readonly VolumeMountSpec[]
  readonly stdin: boolean
  readonly stdinOnce: boolean
  readonly tty: boolean
  /** Where the container may leave its last words. */
  readonly terminationMessagePath: string
  readonly user?: number
  readonly group?: number
  /** It may not run as root. */
  readonly runAsNonRoot: boolean
  /** What its host is called. @default as the machine */
  readonly hostname?: string
  /** Files that it finds by their paths, unless a volume is mounted there: /etc/hosts and the like. @default the machine's */
  readonly files?: ReadonlyMap<string, string>
  /** It sees processes that are not its own. @default false */
  readonly sharesProcesses?: boolean
}

export interface VolumeMountSpec {
  readonly volume: string
  readonly mountPath: string
  readonly subPath?: string
  readonly readOnly: boolean
}

export type PodVolume =
  | { readonly type: 'directory'; readonly name: string }
  /** `hostPathType` as in a Pod's volume, or `Existing` for whatever is there. */
  | { readonly type: 'host'; readonly name: string; readonly path: string; readonly hostPathType: string }
  | { readonly type: 'files'; readonly name: string; readonly files: ReadonlyMap<string, VolumeFile> }

export interface VolumeFile {
  readonly data: Uint8Array
  readonly mode: number
  /** The user whose it is, where the runtime can give files away. @default who runs the node */
  readonly owner?: number
}

export interface RunningContainer {
  /** Unique, without the runtime's name. */
  readonly id: string
  /** Nothing runs: probes and hooks succeed without being asked. @default that of the runtime */
  readonly isSimulated?: boolean
  /** Whom it runs as. @default nobody knows */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: number[] }
  /** Resolves when everything that belongs to it has ended. */
  readonly exited: Promise<ContainerExit>
  /** Resolves when it would answer; only of simulated containers, which nobody can ask. @default from its start */
  readonly ready?: Promise<void>
  /** Asks it to end, and ends it after `grace` milliseconds. Resolves when it has ended. A second call may only shorten. */
  stop(grace: number, stopSignal?: string): Promise<void>
  /** Runs another command beside it. Rejects when it cannot be started. */
  exec(command: readonly string[], io: ProcessIo): Promise<number>
  /** Joins its streams until it ends or `io.signal` aborts. */
  attach(io: ProcessIo): Promise<void>
}

export interface ContainerExit {
  readonly exitCode: number
  readonly signal?: number
  /** Its last words. */
  readonly message?: string
}

/** The streams of a command, from the side of whoever runs it. */
export interface ProcessIo {
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Resolves when there is room for more. */
  stdout(chunk: Uint8Array): Promise<void>
  stderr(chunk: Uint8Array): Promise<void>
  readonly tty: boolean
  readonly sizes?: AsyncIterable<TerminalSize>
  /** Nobody listens any more. */
  readonly signal: AbortSignal
}

export interface TerminalSize {
  readonly width: number
  readonly height: number
}

export interface LogOptions {
  /** Goes on until the container has ended. */
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

export interface ProbeOutcome {
  readonly success: boolean
  readonly message: string
  /** It has succeeded, but people are to know the message. */
  readonly isWarning?: boolean
  /** It could not be asked: that counts neither way. */
  readonly isError?: boolean
}

/** A connection to a port. */
export interface PortStream {
  readonly data: AsyncIterable<Uint8Array>
  write(chunk: Uint8Array): Promise<void>
  /** No more is written; what comes is still read. */
  end(): void
  destroy(): void
}
