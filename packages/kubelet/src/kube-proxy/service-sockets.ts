import type { ProxyEndpoint, ProxyProtocol } from './proxy-rules.ts'

/** What kube-proxy needs of a machine. */
export interface ServiceSockets extends AsyncDisposable {
  /** Listens, and brings what comes to one of the endpoints that `picker` names. */
  open(place: SocketPlace, picker: EndpointPicker): Promise<OpenResult>
  /** Listens, and gives everybody who asks over HTTP the answer of the moment. @default nobody is answered */
  serveHealth?(place: Omit<SocketPlace, 'protocol'>, answer: () => HealthAnswer): Promise<OpenResult>
  /** Whether somebody of this machine listens on a port, at one of the usual addresses. */
  isTaken(protocol: ProxyProtocol, port: number): Promise<boolean>
}

export interface HealthAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SocketPlace {
  readonly protocol: ProxyProtocol
  readonly host: string
  readonly port: number
}

/** Asked anew for every connection. */
export interface EndpointPicker {
  /** Those to try, in this order. */
  candidates(client: string): readonly ProxyEndpoint[]
  connected(client: string, endpoint: ProxyEndpoint): void
  /** Whether what has no connections, only packets, may still go there. */
  isCurrent(endpoint: ProxyEndpoint): boolean
}

export interface OpenSocket {
  /** Listens no longer; connections that there are go on. Resolves when somebody else can have the port. */
  close(): Promise<void>
}

/**
 * Why a port cannot be had: somebody else has it; this user may not have it, as those below 1024; the machine has no such
 * address; something that may be over in a moment, as too many open files.
 */
export type PortProblem = 'taken' | 'forbidden' | 'no address' | 'failed'

export type OpenResult =
  | { readonly opened: true; readonly socket: OpenSocket }
  | { readonly opened: false; readonly problem: PortProblem; readonly message: string }
