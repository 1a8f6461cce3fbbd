import type { JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound, newUnknownError } from '@coxswain/apimachinery/status'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Dialer, DialTls } from './dialer.ts'

/** How the API server connects to kubelets of foreign nodes. */
export interface KubeletClient {
  /** PEM: the client certificate. @default none */
  readonly cert?: string
  readonly key?: string
  /** PEM of the CAs that kubelets' certificates are verified with. @default any certificate is accepted */
  readonly ca?: string
  /** @default Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP */
  readonly preferredAddressTypes?: readonly string[]
}

/** What is needed to reach kubelets: their Nodes, a dialer, and credentials. */
export interface KubeletPorts {
  readonly cache: WatchCache
  readonly dialer: Dialer
  /** Called for every connection. */
  readonly kubelets: () => KubeletClient
}

/** The address of a kubelet. */
export interface KubeletAddress {
  /** A name or an address. */
  readonly host: string
  readonly port: number
  readonly tls: DialTls
}

const defaultAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const defaultPort = 10_250
const nodesPrefix = '/core/nodes/'

/** Throws a 404 when the node does not exist; as upstream, with the resource of the request. */
export function getNode(
  { cache }: Pick<KubeletPorts, 'cache'>,
  name: string,
  resourceOfRequest: string,
): JsonObject {
  const stored = cache.resource(nodesPrefix).get(nodesPrefix + name)
  if (!stored) throw newNotFound({ group: '', resource: resourceOfRequest }, name)
  return stored.parse()
}

/** The kubelet port in the node's status. */
export function kubeletPortOf(node: JsonObject): number {
  const { kubeletEndpoint } = objectOf(objectOf(node.status).daemonEndpoints)
  const port = Number(objectOf(kubeletEndpoint).Port)
  return port > 0 ? port : defaultPort
}

/** Throws a 500 when the node has no address of a preferred type. */
export function findKubelet({ kubelets }: Pick<KubeletPorts, 'kubelets'>, node: JsonObject): KubeletAddress {
  const { cert, key, ca, preferredAddressTypes = defaultAddressTypes } = kubelets()
  const addresses = listOf(objectOf(node.status).addresses)
  for (const type of preferredAddressTypes) {
    const found = addresses.find(address => address.type === type)
    if (!found) continue
    const host = textOf(found.address)
    return {
      host,
      port: kubeletPortOf(node),
      tls: {
        serverName: host,
        ...(ca === undefined ? { insecure: true } : { ca }),
        ...(cert !== undefined && key !== undefined && { cert, key }),
      },
    }
  }
  const known = addresses.map(({ type, address }) => `{${textOf(type)} ${textOf(address)}}`).join(' ')
  throw newUnknownError(`no preferred addresses found; known addresses: [${known}]`)
}
