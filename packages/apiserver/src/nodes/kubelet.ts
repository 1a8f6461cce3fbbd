import type { JsonObject } from '@coxswain/apimachinery/json'
import { newNotFound, newUnknownError } from '@coxswain/apimachinery/status'
import { listOf, objectOf, textOf } from '@coxswain/strategies'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Dialer, DialTls } from './dialer.ts'

/** How the API server speaks to kubelets that are not part of it. */
export interface KubeletClient {
  /** PEM: the client certificate that kubelets are shown. @default none */
  readonly cert?: string
  readonly key?: string
  /** PEM of those who may sign kubelets' certificates. @default any certificate is taken */
  readonly ca?: string
  /** @default Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP */
  readonly preferredAddressTypes?: readonly string[]
}

/** What it takes to reach kubelets: their Nodes, a way to dial, and the credentials to use. */
export interface KubeletPorts {
  readonly cache: WatchCache
  readonly dialer: Dialer
  /** Called for every connection. */
  readonly kubelets: () => KubeletClient
}

/** Where a kubelet listens. */
export interface KubeletAddress {
  /** A name or an address. */
  readonly host: string
  readonly port: number
  readonly tls: DialTls
}

const defaultAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const defaultPort = 10_250
const nodesPrefix = '/core/nodes/'

/** Throws a 404 where there is no such node; as upstream has it, with the resource that the request is about. */
export function getNode(
  { cache }: Pick<KubeletPorts, 'cache'>,
  name: string,
  resourceOfRequest: string,
): JsonObject {
  const stored = cache.resource(nodesPrefix).get(nodesPrefix + name)
  if (!stored) throw newNotFound({ group: '', resource: resourceOfRequest }, name)
  return stored.parse()
}

/** The port a node says its kubelet listens on. */
export function kubeletPortOf(node: JsonObject): number {
  const { kubeletEndpoint } = objectOf(objectOf(node.status).daemonEndpoints)
  const port = Number(objectOf(kubeletEndpoint).Port)
  return port > 0 ? port : defaultPort
}

/** Throws a 500 when the node names no address of a type that counts. */
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
