import type { Service } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export interface NamedService {
  readonly metadata: { readonly name: string }
  readonly spec?: Pick<NonNullable<DeepReadonly<Service>['spec']>, 'clusterIP' | 'ports'>
}

/**
 * The service variables of containers: `NAME_SERVICE_HOST`, `NAME_SERVICE_PORT` and `NAME_SERVICE_PORT_PORTNAME`, and
 * the variables of Docker's links, `NAME_PORT`, `NAME_PORT_80_TCP` and so on. Services without a cluster IP have none.
 * `addressOf` is where a cluster IP is reachable.
 */
export function makeServiceVariables(
  services: readonly NamedService[],
  addressOf: (clusterIP: string) => string,
): Map<string, string> {
  const variables = new Map<string, string>()
  for (const { metadata, spec } of services) {
    const { clusterIP = '', ports = [] } = spec ?? {}
    const [first] = ports
    if (clusterIP === '' || clusterIP === 'None' || !first) continue
    const prefix = variableName(metadata.name)
    const host = addressOf(clusterIP)
    variables.set(`${prefix}_SERVICE_HOST`, host)
    variables.set(`${prefix}_SERVICE_PORT`, String(first.port))
    for (const { name, port } of ports)
      if (name) variables.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port))
    const bracketed = host.includes(':') ? `[${host}]` : host
    for (const [index, { port, protocol = 'TCP' }] of ports.entries()) {
      const scheme = protocol.toLowerCase()
      const url = `${scheme}://${bracketed}:${port}`
      const link = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`
      if (index === 0) variables.set(`${prefix}_PORT`, url)
      variables.set(link, url)
      variables.set(`${link}_PROTO`, scheme)
      variables.set(`${link}_PORT`, String(port))
      variables.set(`${link}_ADDR`, host)
    }
  }
  return variables
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase()
}
