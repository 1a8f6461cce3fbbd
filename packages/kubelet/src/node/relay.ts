import type { EndpointPicker } from '../kube-proxy/service-sockets.ts'

/** What all relays share. */
export interface Relay {
  readonly host: string
  readonly port: number
  readonly picker: EndpointPicker
  /** The open connections of all relays, closed on disposal. */
  readonly active: Set<{ destroy(): void }>
  readonly maxConnections: number
}
