import type { ContainerPort, PodSpec } from '@coxswain/api/core/v1'
import type * as field from '@coxswain/apimachinery/field'
import type { Decoded } from '../../decoded.ts'
import { containersWithPath, numberOf, type WarningTexts } from '../../shared/reading.ts'

interface KnownPort {
  readonly order: number
  readonly at: field.Path
  readonly ip: string
  readonly host: number
}

/** Ports of one container port and protocol, in order; also by their place on the host, with and without its address. */
class PortGroup {
  readonly #all: KnownPort[] = []
  readonly #byPlace = new Map<string, KnownPort[]>()

  add(port: KnownPort): void {
    this.#all.push(port)
    for (const place of [`${port.host}`, `${port.host}/${port.ip}`]) {
      const same = this.#byPlace.get(place)
      if (same) same.push(port)
      else this.#byPlace.set(place, [port])
    }
  }

  /** Every port that there is a warning about when `port` is added, in order, and no others: they can be many. */
  conflictsWith({ ip, host }: Pick<KnownPort, 'ip' | 'host'>): readonly KnownPort[] {
    if (host === 0) return this.#all
    const at = (place: string) => this.#byPlace.get(place) ?? []
    const samePort = ip === '' ? at(`${host}`) : [...at(`${host}/${ip}`), ...at(`${host}/`)]
    return [...samePort, ...at('0')].sort((one, other) => one.order - other.order)
  }
}

export function* portWarnings(spec: Decoded<PodSpec>, path: field.Path): WarningTexts {
  const known = new Map<string, PortGroup>()
  let order = 0
  for (const [port, at] of portsWithPath(spec, path)) {
    const ip = port.hostIP ?? ''
    const host = numberOf(port.hostPort)
    if (ip !== '' && host === 0) {
      const shown = `{Name:${port.name ?? ''} HostPort:0 ContainerPort:${numberOf(port.containerPort)} Protocol:${port.protocol ?? ''} HostIP:${ip}}`
      yield `${at}: hostIP set without hostPort: ${shown}`
    }
    const key = `${numberOf(port.containerPort)}/${port.protocol ?? ''}`
    const group = known.get(key) ?? new PortGroup()
    for (const other of group.conflictsWith({ ip, host })) {
      if (ip === other.ip && host === other.host) yield `${at}: duplicate port definition with ${other.at}`
      else if (host === 0 || other.host === 0) yield `${at}: overlapping port definition with ${other.at}`
      else yield `${at}: dangerously ambiguous port definition with ${other.at}`
    }
    group.add({ order: order++, at, ip, host })
    known.set(key, group)
  }
  yield* nameWarnings(spec, path)
}

function* nameWarnings(spec: Decoded<PodSpec>, path: field.Path): WarningTexts {
  const names = new Map<string, field.Path>()
  for (const [port, at] of portsWithPath(spec, path)) {
    const name = port.name ?? ''
    if (name === '') continue
    const other = names.get(name)
    if (other)
      yield `${at}: duplicate port name ${JSON.stringify(name)} with ${other}, services and probes that select ports by name will use ${other}`
    else names.set(name, at)
  }
}

function* portsWithPath(
  spec: Decoded<PodSpec>,
  path: field.Path,
): Generator<[Decoded<ContainerPort>, field.Path]> {
  for (const [container, at] of containersWithPath(spec, path)) {
    const ports = at.child('ports')
    for (const [index, port] of (container.ports ?? []).entries()) yield [port, ports.index(index)]
  }
}
