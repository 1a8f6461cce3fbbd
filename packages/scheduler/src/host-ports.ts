import { longRunningContainers, type PodView } from '@coxswain/kinds'

const anyAddress = '0.0.0.0'

interface HostPort {
  readonly address: string
  readonly protocol: string
  readonly port: number
}

export function hostPortsOf(pod: PodView): HostPort[] {
  return longRunningContainers(pod).flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP, protocol = 'TCP' }) =>
      hostPort > 0 ? [{ address: hostIP || anyAddress, protocol, port: hostPort }] : [],
    ),
  )
}

/** The host ports that a node's pods use. The wildcard address conflicts with all others. */
export class HostPorts {
  /** Use counts by address, by `protocol/port`. */
  readonly #used = new Map<string, Map<string, number>>()

  count(pod: PodView, sign: 1 | -1): void {
    for (const { address, protocol, port } of hostPortsOf(pod)) {
      const key = `${protocol}/${port}`
      const uses = this.#used.get(key) ?? new Map<string, number>()
      const left = (uses.get(address) ?? 0) + sign
      if (left > 0) uses.set(address, left)
      else uses.delete(address)
      if (uses.size > 0) this.#used.set(key, uses)
      else this.#used.delete(key)
    }
  }

  conflictsWith({ address, protocol, port }: HostPort): boolean {
    const uses = this.#used.get(`${protocol}/${port}`)
    if (!uses) return false
    return address === anyAddress || uses.has(address) || uses.has(anyAddress)
  }
}
