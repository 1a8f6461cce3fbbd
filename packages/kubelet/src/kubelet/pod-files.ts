import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { NodeFacts } from '../container-runtime.ts'

/** The DNS server of the cluster. */
export interface ClusterDns {
  readonly address: string
  /** For example `cluster.local`. */
  readonly domain: string
}

/** The most entries that resolvers read. */
const maxServers = 3
const maxSearches = 32
/** The longest hostname. */
const maxHostname = 63

const defaultDomain = 'cluster.local'

/** The hostname of a Pod, as the kubelet sets it; undefined where it is the node's. */
export function hostnameOf(
  { metadata, spec }: DeepReadonly<Pod>,
  domain: string = defaultDomain,
): string | undefined {
  if (spec.hostNetwork) return undefined
  if (spec.hostnameOverride) return spec.hostnameOverride
  const hostname = (spec.hostname || metadata.name).slice(0, maxHostname).replace(/[-.]+$/, '')
  const isLong = spec.setHostnameAsFQDN && spec.subdomain
  return isLong ? `${hostname}.${domainOf({ metadata, spec }, domain)}` : hostname
}

function domainOf({ metadata, spec }: Pick<DeepReadonly<Pod>, 'metadata' | 'spec'>, domain: string): string {
  return `${spec.subdomain}.${metadata.namespace}.svc.${domain}`
}

/** The files that the kubelet writes for the containers of a Pod, by path. */
export function makePodFiles(
  pod: DeepReadonly<Pod>,
  etc: NonNullable<NodeFacts['etc']>,
  dns: ClusterDns | undefined,
): ReadonlyMap<string, string> {
  const hostname = hostnameOf(pod, dns?.domain)
  return new Map([
    ['/etc/hosts', makeHosts(pod, etc.hosts, dns?.domain)],
    ['/etc/resolv.conf', makeResolvConf(pod, etc.resolvConf, dns)],
    ...(hostname === undefined ? [] : [['/etc/hostname', `${hostname}\n`] as const]),
  ])
}

export function makeHosts(pod: DeepReadonly<Pod>, machine: string, domain: string = defaultDomain): string {
  const { spec, status } = pod
  const hostname = hostnameOf(pod, domain)
  const lines: string[] = []
  if (hostname === undefined) lines.push('# Kubernetes-managed hosts file (host network).', machine.trimEnd())
  else {
    lines.push(
      '# Kubernetes-managed hosts file.',
      '127.0.0.1\tlocalhost',
      '::1\tlocalhost ip6-localhost ip6-loopback',
      'fe00::0\tip6-localnet',
      'fe00::0\tip6-mcastprefix',
      'fe00::1\tip6-allnodes',
      'fe00::2\tip6-allrouters',
    )
    const [short = ''] = hostname.split('.', 1)
    const names = spec.subdomain ? `${short}.${domainOf(pod, domain)}\t${short}` : hostname
    for (const { ip } of status?.podIPs ?? []) lines.push(`${ip}\t${names}`)
  }
  const { hostAliases = [] } = spec
  if (hostAliases.length > 0) lines.push('', '# Entries added by HostAliases.')
  for (const { ip, hostnames = [] } of hostAliases) lines.push([ip, ...hostnames].join('\t'))
  return `${lines.join('\n')}\n`
}

interface ResolverConfiguration {
  readonly nameservers: readonly string[]
  readonly searches: readonly string[]
  /** Such as `ndots:5`. */
  readonly options: readonly string[]
}

/**
 * resolv.conf from a Pod's `dnsPolicy` and `dnsConfig`. The machine's servers follow the cluster's: that one refuses names outside the
 * cluster, and resolvers then ask the next one.
 */
export function makeResolvConf(
  { metadata, spec }: DeepReadonly<Pod>,
  machine: string,
  dns: ClusterDns | undefined,
): string {
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {}, hostNetwork = false } = spec
  const isCluster = dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && !hostNetwork)
  const own = readResolvConf(machine)
  let base: ResolverConfiguration = own
  if (dnsPolicy === 'None') base = { nameservers: [], searches: [], options: [] }
  else if (isCluster && dns) {
    const { address, domain } = dns
    const searches = [`${metadata.namespace}.svc.${domain}`, `svc.${domain}`, domain]
    base = {
      nameservers: [address, ...own.nameservers],
      searches: [...searches, ...own.searches],
      options: ['ndots:5'],
    }
  }
  const options = new Map(base.options.map(option => [option.split(':', 1)[0], option]))
  for (const { name = '', value } of dnsConfig.options ?? [])
    options.set(name, value === undefined ? name : `${name}:${value}`)
  const servers = [...new Set([...base.nameservers, ...(dnsConfig.nameservers ?? [])])]
  const searches = [...new Set([...base.searches, ...(dnsConfig.searches ?? [])])]
  return [
    ...(searches.length > 0 ? [`search ${searches.slice(0, maxSearches).join(' ')}\n`] : []),
    ...servers.slice(0, maxServers).map(server => `nameserver ${server}\n`),
    ...(options.size > 0 ? [`options ${[...options.values()].join(' ')}\n`] : []),
  ].join('')
}

function readResolvConf(text: string): ResolverConfiguration {
  const lines = text.split('\n').map(line => line.trim().split(/\s+/))
  const all = (name: string) => lines.filter(([first]) => first === name).map(([, ...rest]) => rest)
  return {
    nameservers: all('nameserver').flatMap(([address]) => address ?? []),
    // The last line wins.
    searches: all('search').at(-1) ?? [],
    options: all('options').flat(),
  }
}
