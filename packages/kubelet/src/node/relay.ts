import type { EndpointPicker } from '../kube-proxy/service-sockets.ts'

/** What one relay needs of all. */
export interface Relay {
  readonly host: string
  readonly port: number
  readonly picker: EndpointPicker
  /** What is under way, of all relays: ended when everything ends. */
  readonly active: Set<{ destroy(): void }>
  readonly maxConnections: number
}
