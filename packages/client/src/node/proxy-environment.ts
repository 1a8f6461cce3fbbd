import { BlockList, isIP } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy that the environment names for a server (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), by Go's rules. */
export function proxyFromEnvironment(server: URL, environment: Environment): string | undefined {
  const pick = (name: string) => environment[name] || environment[name.toLowerCase()] || undefined
  const proxy = server.protocol === 'https:' ? pick('HTTPS_PROXY') : pick('HTTP_PROXY')
  if (proxy === undefined || isExempt(server, pick('NO_PROXY') ?? '')) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function isExempt(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  if (host === 'localhost' || isLoopback(host)) return true
  return noProxy
    .split(',')
    .map(entry => entry.trim().toLowerCase())
    .some(entry => entry !== '' && matches(entry, host, port))
}

function isLoopback(host: string): boolean {
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1'
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  const slash = entry.indexOf('/')
  const family = isIP(host)
  if (slash > 0) return family !== 0 && inSubnet(entry.slice(0, slash), Number(entry.slice(slash + 1)), host)
  const colon = isIP(entry) ? -1 : entry.lastIndexOf(':')
  if (colon > 0 && entry.slice(colon + 1) !== port) return false
  const name = (colon > 0 ? entry.slice(0, colon) : entry).replace(/^\*/, '')
  if (name.startsWith('.')) return host.endsWith(name)
  return host === name || (family === 0 && host.endsWith(`.${name}`))
}

function inSubnet(network: string, bits: number, host: string): boolean {
  const family = isIP(network)
  if (family === 0 || !Number.isInteger(bits)) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  try {
    list.addSubnet(network, bits, type)
  } catch {
    return false
  }
  return isIP(host) === family && list.check(host, type)
}
