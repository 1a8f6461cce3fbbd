import type { ByteStream, WireRequest, WireResponse } from '@coxswain/wire'

/** Names a Pod that a node runs. */
export interface PodAddress {
  readonly namespace: string
  readonly name: string
}

/** The way to the nodes' agents. What they refuse they refuse with a `StatusError`, as the client is to see it. */
export interface NodeConnection {
  /** Whether a node is one of those that this leads to. */
  hasNode(node: string): boolean
  /** Asks a node's agent what others ask a kubelet's own server (`/healthz`, `/pods`, `/stats/summary`, ...). */
  ask(node: string, request: WireRequest): Promise<WireResponse>
  /** What a container has printed, and with `follow` goes on printing. */
  readLog(pod: PodAddress, container: string, options: NodeLogOptions): Promise<AsyncIterable<Uint8Array>>
  /** Runs a command in a container. Resolves with its exit code; rejects when it cannot be started. */
  exec(pod: PodAddress, container: string, command: readonly string[], io: TerminalStreams): Promise<number>
  /** Joins what a container runs. Resolves when it has ended, or `io.signal` aborts. */
  attach(pod: PodAddress, container: string, io: TerminalStreams): Promise<void>
  /** Connects to a port of a Pod. Rejects when nothing listens. */
  dial(pod: PodAddress, port: number): Promise<PortStream>
}

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
  /** Resolves when there is room for more. */
  stdout(chunk: Uint8Array): Promise<void>
  stderr(chunk: Uint8Array): Promise<void>
  readonly tty: boolean
  readonly sizes?: AsyncIterable<{ readonly width: number; readonly height: number }>
  /** The client has left. */
  readonly signal: AbortSignal
}

/** A connection to a port. */
export type PortStream = ByteStream
