import { hostname, networkInterfaces } from 'node:os'
import { formatIP, parseIP } from '@coxswain/apimachinery/validation'
import { isLoopback, isUnspecified, type ServingFlags } from '../options/serving-options.ts'

/** Reserved for documentation: what a machine without a network advertises. */
const unreachableAddress = '192.0.2.1'

/** The name by which clients of this machine reach the generated certificate whatever --tls-cert-file says; upstream's. */
export const loopbackServerName = 'apiserver-loopback-client'

/** Where the server listens and where others reach it. */
export interface ServingAddresses {
  readonly bind: string
  /** For endpoints and nodes; never a loopback address. */
  readonly advertised: string
  /** Where clients of this machine reach the server. */
  readonly local: string
  /** Where Pods reach the server: the advertised address, unless it serves only this machine. */
  readonly reachable: string
  /** Whether other machines can connect. */
  readonly isPublic: boolean
  /** What the server is called besides the names that every API server has. */
  readonly hosts: readonly string[]
}

export function resolveAddresses({ bindAddress, advertiseAddress }: ServingFlags): ServingAddresses {
  const bind = canonical(bindAddress)
  const isOwn = !isLoopback(bind) && !isUnspecified(bind)
  const advertised =
    advertiseAddress === undefined ? (isOwn ? bind : chooseAddress(bind)) : canonical(advertiseAddress)
  const local = isUnspecified(bind) ? (bind.includes(':') ? '::1' : '127.0.0.1') : bind
  return {
    bind,
    advertised,
    local,
    reachable: advertiseAddress === undefined && isLoopback(bind) ? bind : advertised,
    isPublic: !isLoopback(bind),
    hosts: [...new Set([loopbackServerName, hostname().toLowerCase(), advertised, local])],
  }
}

/** `host:port` as URLs have it. */
export function joinHostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** This machine's first address that is not a loopback one, of the family of `bind` where there is one. */
function chooseAddress(bind: string): string {
  const addresses = Object.values(networkInterfaces())
    .flatMap(of => of ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid)
  const family = bind.includes(':') ? 'IPv6' : 'IPv4'
  const found =
    addresses.find(address => address.family === family) ??
    addresses.find(address => address.family === 'IPv4')
  return found?.address ?? unreachableAddress
}

function canonical(address: string): string {
  const parsed = parseIP(address)
  return parsed ? formatIP(parsed.bytes) : address
}
