import type { Service } from '@coxswain/api/core/v1'
import type { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { parseIP } from '@coxswain/apimachinery/validation'
import { type DnsAnswer, type DnsQuestion, type DnsRecord, type RecordData, recordTypes } from './message.ts'

export interface ZoneOptions {
  /** For example `cluster.local`. */
  readonly domain: string
  /** The address at which a cluster IP is reachable. */
  addressOf(clusterIP: string): string
  /** Changes with the content of the zone. */
  readonly serial: number
}

export interface ZoneContent {
  readonly services: readonly DeepReadonly<Service>[]
  readonly slices: readonly DeepReadonly<EndpointSlice>[]
  readonly namespaces: ReadonlySet<string>
}

/** The version of the specification that these names follow. */
const specification = '1.1.0'
const classIN = 1
const serviceNameLabel = 'kubernetes.io/service-name'
/** The most records in one answer. */
const maxRecords = 1_000
/** Seconds: refresh, retry, expire, and how long a negative answer may be cached. */
const soaTimes = [7200, 1800, 86_400, 5] as const

/**
 * The DNS zone of a cluster, with CoreDNS' answers.
 *
 *   SERVICE.NAMESPACE.svc.DOMAIN                  A, AAAA: the cluster IP, or the endpoints of a headless Service; CNAME: ExternalName
 *   _PORT._PROTOCOL.SERVICE.NAMESPACE.svc.DOMAIN  SRV
 *   HOST.SERVICE.NAMESPACE.svc.DOMAIN             A, AAAA: an endpoint of a headless Service, by hostname or address
 *   A-B-C-D.NAMESPACE.pod.DOMAIN                  A: the address in the name
 *   D.C.B.A.in-addr.arpa                          PTR
 */
export class Zone {
  readonly #options: ZoneOptions
  readonly #namespaces: ReadonlySet<string>
  readonly #records = new Map<string, RecordData[]>()
  /** Names that have no records themselves, only names below them. */
  readonly #branches = new Set<string>()

  constructor({ services, slices, namespaces }: ZoneContent, options: ZoneOptions) {
    this.#options = options
    this.#namespaces = namespaces
    const { domain } = options
    this.#add(domain, this.#startOfAuthority())
    this.#add(domain, { type: 'NS', target: `ns.dns.${domain}` })
    this.#add(`dns-version.${domain}`, { type: 'TXT', text: specification })
    for (const kind of ['svc', 'pod']) {
      this.#addBranch(`${kind}.${domain}`)
      for (const namespace of namespaces) this.#addBranch(`${namespace}.${kind}.${domain}`)
    }
    const byService = new Map<string, DeepReadonly<EndpointSlice>[]>()
    for (const slice of slices) {
      const id = `${slice.metadata.namespace}/${slice.metadata.labels?.[serviceNameLabel]}`
      const known = byService.get(id)
      if (known) known.push(slice)
      else byService.set(id, [slice])
    }
    for (const service of services)
      this.#addService(service, byService.get(`${service.metadata.namespace}/${service.metadata.name}`) ?? [])
  }

  answer(question: DnsQuestion): DnsAnswer {
    const { name, type } = question
    const { domain } = this.#options
    const isOurs = name === domain || name.endsWith(`.${domain}`)
    const found = this.#records.get(name) ?? this.#podRecords(name)
    // Other names, and other addresses, are left to the next server.
    if (question.class !== classIN || (!isOurs && !found)) return plain('REFUSED')
    const authorities = [{ name: domain, data: this.#startOfAuthority() }]
    if (!found) {
      const code = this.#branches.has(name) ? 'NOERROR' : 'NXDOMAIN'
      return { ...plain(code), isAuthoritative: true, authorities }
    }
    const answers = found
      .filter(data => recordTypes[data.type] === type || data.type === 'CNAME')
      .slice(0, maxRecords)
      .map(data => ({ name, data }))
    if (answers.length === 0) return { ...plain('NOERROR'), isAuthoritative: true, authorities }
    const additionals: DnsRecord[] = []
    for (const { data } of answers) this.#follow(data, data.type === 'CNAME' ? answers : additionals)
    return {
      ...plain('NOERROR'),
      isAuthoritative: true,
      answers,
      additionals: additionals.slice(0, maxRecords),
    }
  }

  /** Adds the addresses of a record's target. */
  #follow(data: RecordData, into: DnsRecord[]): void {
    if (data.type !== 'SRV' && data.type !== 'CNAME') return
    if (into.some(({ name }) => name === data.target)) return
    for (const other of this.#records.get(data.target) ?? [])
      if (other.type === 'A' || other.type === 'AAAA') into.push({ name: data.target, data: other })
  }

  /** Any address written with dashes, in a namespace that exists. */
  #podRecords(name: string): readonly RecordData[] | undefined {
    const rest = `.pod.${this.#options.domain}`
    if (!name.endsWith(rest)) return undefined
    const [dashed = '', namespace = '', ...more] = name.slice(0, -rest.length).split('.')
    if (more.length > 0 || !this.#namespaces.has(namespace)) return undefined
    const data = addressRecord(dashed.replaceAll('-', '.')) ?? addressRecord(dashed.replaceAll('-', ':'))
    return data && [data]
  }

  #addService(service: DeepReadonly<Service>, slices: readonly DeepReadonly<EndpointSlice>[]): void {
    const { metadata, spec = {} } = service
    const name = `${metadata.name}.${metadata.namespace}.svc.${this.#options.domain}`
    if (spec.type === 'ExternalName') {
      const target = (spec.externalName ?? '').replace(/\.$/, '').toLowerCase()
      if (target !== '') this.#add(name, { type: 'CNAME', target })
      return
    }
    if (!spec.clusterIP) return
    if (spec.clusterIP === 'None') {
      this.#addBranch(name)
      for (const slice of slices) this.#addEndpoints(name, slice)
      return
    }
    for (const clusterIP of spec.clusterIPs ?? [spec.clusterIP]) {
      const address = this.#options.addressOf(clusterIP)
      this.#addAddress(name, address)
      this.#addPointer(clusterIP, name)
      if (address !== clusterIP) this.#addPointer(address, name)
    }
    for (const { name: port, protocol = 'TCP', port: number } of spec.ports ?? [])
      if (port) this.#addServer(`_${port}._${protocol.toLowerCase()}.${name}`, { port: number, target: name })
  }

  #addEndpoints(service: string, { endpoints, ports = [] }: DeepReadonly<EndpointSlice>): void {
    for (const { addresses, hostname, conditions } of endpoints ?? []) {
      if (conditions?.ready === false) continue
      for (const address of addresses) {
        const target = `${hostname || address.replaceAll(/[.:]/g, '-')}.${service}`
        this.#addAddress(service, address)
        this.#addAddress(target, address)
        this.#addPointer(address, target)
        for (const { name, protocol = 'TCP', port } of ports ?? [])
          if (name && port)
            this.#addServer(`_${name}._${protocol.toLowerCase()}.${service}`, { port, target })
      }
    }
  }

  #addServer(name: string, { port, target }: { readonly port: number; readonly target: string }): void {
    this.#add(name, { type: 'SRV', priority: 0, weight: 100, port, target })
  }

  #addAddress(name: string, address: string): void {
    const data = addressRecord(address)
    if (data) this.#add(name, data)
  }

  #addPointer(address: string, target: string): void {
    const ip = parseIP(address)
    if (!ip) return
    const digits =
      ip.bytes.length === 4
        ? [...ip.bytes].map(String)
        : [...ip.bytes].flatMap(byte => [(byte >> 4).toString(16), (byte & 15).toString(16)])
    const suffix = ip.bytes.length === 4 ? 'in-addr.arpa' : 'ip6.arpa'
    const name = `${digits.reverse().join('.')}.${suffix}`
    const data: RecordData = { type: 'PTR', target }
    const known = this.#records.get(name)
    if (known) known.push(data)
    else this.#records.set(name, [data])
  }

  #add(name: string, data: RecordData): void {
    const lower = name.toLowerCase()
    const known = this.#records.get(lower)
    if (!known) {
      this.#records.set(lower, [data])
      this.#addBranch(lower.slice(lower.indexOf('.') + 1))
    } else known.push(data)
  }

  #addBranch(name: string): void {
    const { domain } = this.#options
    for (let at = name.toLowerCase(); at.endsWith(`.${domain}`); at = at.slice(at.indexOf('.') + 1)) {
      if (this.#branches.has(at)) return
      this.#branches.add(at)
    }
  }

  #startOfAuthority(): RecordData {
    const { domain, serial } = this.#options
    const times = [serial >>> 0, ...soaTimes]
    return { type: 'SOA', server: `ns.dns.${domain}`, mailbox: `hostmaster.${domain}`, times }
  }
}

function plain(code: DnsAnswer['code']): DnsAnswer {
  return { code, isAuthoritative: false, answers: [], authorities: [], additionals: [] }
}

function addressRecord(text: string): RecordData | undefined {
  const ip = parseIP(text)
  if (!ip) return undefined
  return { type: ip.bytes.length === 4 ? 'A' : 'AAAA', address: Uint8Array.from(ip.bytes) }
}
