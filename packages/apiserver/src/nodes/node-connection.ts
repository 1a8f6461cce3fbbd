import type { ByteStream, WireRequest, WireResponse } from '@coxswain/wire'

/** Identifies a Pod on a node. */
export interface PodAddress {
  readonly namespace: string
  readonly name: string
}

/** A direct connection to kubelets. Errors are `StatusError`s for the client. */
export interface NodeConnection {
  /** Whether this connection reaches the node. */
  hasNode(node: string): boolean
  /** Sends a request to the kubelet's own server (`/healthz`, `/pods`, `/stats/summary`, ...). */
  ask(node: string, request: WireRequest): Promise<WireResponse>
  /** The log of a container; with `follow` also what it prints later. */
  readLog(pod: PodAddress, container: string, options: NodeLogOptions): Promise<AsyncIterable<Uint8Array>>
  /** Runs a command in a container. Resolves with its exit code; rejects when it cannot be started. */
  exec(pod: PodAddress, container: string, command: readonly string[], io: TerminalStreams): Promise<number>
  /** Attaches to a container. Resolves when it has ended, or `io.signal` aborts. */
  attach(pod: PodAddress, container: string, io: TerminalStreams): Promise<void>
  /** Connects to a port of a Pod. Rejects when nothing listens. */
  dial(pod: PodAddress, port: number): Promise<PortStream>
}

/** Which part of a container's log to read: PodLogOptions, parsed. */
export interface NodeLogOptions {
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly tailLines?: number
  readonly limitBytes?: number
  readonly stream?: string
  readonly signal: AbortSignal
}

/** The streams of a command, as the kubelet sees them. */
export interface TerminalStreams {
  readonly stdin?: AsyncIterable<Uint8Array>
  /** Resolves when more can be written. */
  stdout(chunk: Uint8Array): Promise<void>
  stderr(chunk: Uint8Array): Promise<void>
  readonly tty: boolean
  readonly sizes?: AsyncIterable<{ readonly width: number; readonly height: number }>
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

/** A connection to a port. */
export type PortStream = ByteStream
