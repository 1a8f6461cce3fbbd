import type { ProxyEndpoint, ProxyProtocol } from './proxy-rules.ts'

/** The sockets that kube-proxy needs. */
export interface ServiceSockets extends AsyncDisposable {
  /** Listens, and forwards connections to the endpoints that `picker` names. */
  open(place: SocketPlace, picker: EndpointPicker): Promise<OpenResult>
  /** Listens, and answers HTTP requests with the current `answer`. @default health checks are not served */
  serveHealth?(place: Omit<SocketPlace, 'protocol'>, answer: () => HealthAnswer): Promise<OpenResult>
  /** Whether a process of this machine listens on a port, on one of the usual addresses. */
  isTaken(protocol: ProxyProtocol, port: number): Promise<boolean>
}

export interface HealthAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Where to listen. */
export interface SocketPlace {
  readonly protocol: ProxyProtocol
  readonly host: string
  readonly port: number
}

/** Consulted for every connection. */
export interface EndpointPicker {
  /** The endpoints to try, in order. */
  candidates(client: string): readonly ProxyEndpoint[]
  connected(client: string, endpoint: ProxyEndpoint): void
  /** Whether packets of a connectionless protocol may still go there. */
  isCurrent(endpoint: ProxyEndpoint): boolean
}

/** A port that is open. */
export interface OpenSocket {
  /** Stops listening; open connections continue. Resolves when the port is free. */
  close(): Promise<void>
}

/**
 * Why a port cannot be opened: another process has it; this user may not open it, for example below 1024; the machine has no such
 * address; something transient, for example too many open files.
 */
export type PortProblem = 'taken' | 'forbidden' | 'no address' | 'failed'

/** The result of an attempt to open a port. */
export type OpenResult =
  | { readonly opened: true; readonly socket: OpenSocket }
  | { readonly opened: false; readonly problem: PortProblem; readonly message: string }
