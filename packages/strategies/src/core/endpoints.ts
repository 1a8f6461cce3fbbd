import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isValidPortNum, nameIsDNSSubdomain, warningsForIP } from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { legacyIP, printFew, validateEndpointIP } from '../networking/addresses.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import {
  type Findings,
  invalidBecause,
  numberOf,
  validateChoice,
  validateDNSLabel,
  validateQualifiedName,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

/** Sorted, as errors list them. */
export const portProtocols: readonly string[] = ['SCTP', 'TCP', 'UDP']
const subsetsPath = field.Path.of('subsets')
const addressLists = ['addresses', 'notReadyAddresses'] as const
const managedBy = 'endpoints.kubernetes.io/managed-by'

export const endpointsStrategy: Strategy = defineStrategy<Endpoints>({
  createOnUpdate: true,
  deprecated: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  default(object) {
    for (const subset of object.subsets ?? [])
      for (const port of subset.ports ?? []) if ((port.protocol ?? '') === '') port.protocol = 'TCP'
  },
  validate(object, _context, old) {
    const errors = [...validateSubsets(object.subsets ?? [])]
    return old && errors.length > 0 && deepEqual(object.subsets, old.subsets) ? [] : errors
  },
  warnings: object => warnAboutAddresses(object),
  cells: (object, now) => ({
    Name: nameCell(object),
    Endpoints: printSubsets(object.subsets ?? []),
    Age: ageCell(object, now),
  }),
})

function warnAboutAddresses(object: Decoded<Endpoints>): string[] {
  if (object.metadata.labels?.[managedBy] === 'endpoint-controller') return []
  return (object.subsets ?? []).flatMap((subset, i) =>
    addressLists.flatMap(list =>
      (subset[list] ?? []).flatMap(({ ip }, j) =>
        warningsForIP(subsetsPath.index(i).child(list).index(j).child('ip'), ip ?? ''),
      ),
    ),
  )
}

function printSubsets(subsets: readonly Decoded<EndpointSubset>[]): string {
  if (subsets.length === 0) return '<none>'
  const shown = subsets.flatMap(({ addresses, ports }) => {
    const ips = (addresses ?? []).map(({ ip }) => ip ?? '')
    if ((ports ?? []).length === 0) return ips
    return (ports ?? []).flatMap(({ port }) =>
      ips.map(ip => (ip.includes(':') ? `[${ip}]:${numberOf(port)}` : `${ip}:${numberOf(port)}`)),
    )
  })
  return printFew(shown)
}

function* validateSubsets(subsets: readonly Decoded<EndpointSubset>[]): Findings {
  for (const [i, subset] of subsets.entries()) {
    const path = subsetsPath.index(i)
    if (addressLists.every(list => (subset[list] ?? []).length === 0))
      yield field.required(path, 'must specify `addresses` or `notReadyAddresses`')
    for (const list of addressLists) {
      for (const [j, address] of (subset[list] ?? []).entries())
        yield* validateAddress(address, path.child(list).index(j))
    }
    const ports = subset.ports ?? []
    for (const [j, port] of ports.entries())
      yield* validatePort(port, ports.length > 1, path.child('ports').index(j))
  }
}

function* validateAddress(address: Decoded<EndpointAddress>, path: field.Path): Findings {
  const ip = address.ip ?? ''
  yield* legacyIP(path.child('ip'), ip)
  if ((address.hostname ?? '') !== '') yield* validateDNSLabel(address.hostname ?? '', path.child('hostname'))
  if (address.nodeName !== undefined) {
    const nodeName = address.nodeName ?? ''
    yield* invalidBecause(path.child('nodeName'), nodeName, nameIsDNSSubdomain(nodeName, false))
  }
  yield* validateEndpointIP(ip, path.child('ip'))
}

function* validatePort(port: Decoded<EndpointPort>, requireName: boolean, path: field.Path): Findings {
  const name = port.name ?? ''
  if (name !== '') yield* validateDNSLabel(name, path.child('name'))
  else if (requireName) yield field.required(path.child('name'))
  yield* invalidBecause(path.child('port'), numberOf(port.port), isValidPortNum(numberOf(port.port)))
  yield* validateChoice(port.protocol, portProtocols, path.child('protocol'))
  if (port.appProtocol !== undefined)
    yield* validateQualifiedName(port.appProtocol ?? '', path.child('appProtocol'))
}
