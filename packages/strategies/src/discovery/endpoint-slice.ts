import type { Endpoint, EndpointHints, EndpointSlice } from '@coxswain/api/discovery/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import {
  isDNS1123Label,
  isDNS1123Subdomain,
  isValidIP,
  isValidLabelValue,
  nameIsDNSSubdomain,
  validateImmutableField,
  validateLabels,
  warningsForIP,
} from '@coxswain/apimachinery/validation'
import { portProtocols } from '../core/endpoints.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { isIPv4, isIPv6, legacyIP, printFew, validateEndpointIP } from '../networking/addresses.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import {
  type Findings,
  invalidBecause,
  validateChoice,
  validateDNSLabel,
  validateQualifiedName,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const maxEndpoints = 1000
const maxPorts = 20_000
const maxAddresses = 100
const maxTopologyLabels = 16
const maxHints = 8
const managedBy = 'endpointslice.kubernetes.io/managed-by'
/** Controllers that write addresses in canonical form. */
const trustedManagers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']

export const endpointSliceStrategy: Strategy = defineStrategy<EndpointSlice>({
  generation: true,
  default(object) {
    for (const port of object.ports ?? []) {
      port.name ??= ''
      port.protocol ??= 'TCP'
    }
  },
  prepareForCreate: object => dropTopology(object, undefined),
  /** Labels say which Service a slice belongs to, so a change of them increments the generation. */
  prepareForUpdate(object, old) {
    const metadata = object.metadata
    const before = old.metadata
    if (!deepEqual(metadata.labels ?? {}, before.labels ?? {}))
      metadata.generation = Number(before.generation ?? 0) + 1
    if (!deepEqual(object.endpoints ?? [], old.endpoints ?? [])) dropTopology(object, old)
  },
  validate(object, _context, old) {
    const errors = [...validateSlice(object)]
    const endpoints = [...validateEndpoints(object.endpoints ?? [], object.addressType ?? '')]
    const isUnchanged = old && deepEqual(object.endpoints ?? [], old.endpoints ?? [])
    return isUnchanged ? errors : [...errors, ...endpoints]
  },
  validateUpdate: (object, old) =>
    validateImmutableField(object.addressType, old.addressType, field.Path.of('addressType')),
  warnings: (object, old) => [
    ...(!old && object.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...warnAboutAddresses(object),
  ],
  cells: (object, now) => ({
    Name: nameCell(object),
    AddressType: object.addressType ?? '',
    Ports: printFew((object.ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'))) || '<unset>',
    Endpoints: printFew((object.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])) || '<unset>',
    Age: ageCell(object, now),
  }),
})

/** v1 has no topology; a node name in it moves to `nodeName`. */
function dropTopology(object: Decoded<EndpointSlice>, old: Decoded<EndpointSlice> | undefined): void {
  const hostname = 'kubernetes.io/hostname'
  const known = new Set(
    (old?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[hostname]),
  )
  for (const endpoint of object.endpoints ?? []) {
    const name = endpoint.deprecatedTopology?.[hostname]
    if (endpoint.nodeName === undefined && name !== undefined && known.has(name)) endpoint.nodeName = name
    delete endpoint.deprecatedTopology
  }
}

function warnAboutAddresses(object: Decoded<EndpointSlice>): string[] {
  if (trustedManagers.includes(object.metadata.labels?.[managedBy] ?? '')) return []
  const path = field.Path.of('endpoints')
  return (object.endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).flatMap((address, j) =>
      warningsForIP(path.index(i).child('addresses').index(j), address),
    ),
  )
}

function* validateSlice(object: Decoded<EndpointSlice>): Findings {
  yield* validateChoice(object.addressType, addressTypes, field.Path.of('addressType'))
  const ports = object.ports ?? []
  const path = field.Path.of('ports')
  if (ports.length > maxPorts) {
    yield field.tooMany(path, ports.length, maxPorts)
    return
  }
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = path.index(index)
    const name = port.name ?? ''
    if (name !== '') yield* validateDNSLabel(name, at.child('name'))
    if (names.has(name)) yield field.duplicate(at.child('name'), name)
    names.add(name)
    if (!portProtocols.includes(port.protocol ?? ''))
      yield field.notSupported(at.child('protocol'), port.protocol ?? '', portProtocols)
    if (port.appProtocol !== undefined)
      yield* validateQualifiedName(port.appProtocol ?? '', at.child('appProtocol'))
  }
}

function* validateEndpoints(endpoints: readonly Decoded<Endpoint>[], type: string): Findings {
  const path = field.Path.of('endpoints')
  if (endpoints.length > maxEndpoints) {
    yield field.tooMany(path, endpoints.length, maxEndpoints)
    return
  }
  for (const [index, endpoint] of endpoints.entries()) {
    const at = path.index(index)
    yield* validateAddresses(endpoint.addresses ?? [], type, at.child('addresses'))
    if (endpoint.nodeName !== undefined) {
      const name = endpoint.nodeName ?? ''
      yield* invalidBecause(at.child('nodeName'), name, nameIsDNSSubdomain(name, false))
    }
    yield* validateTopology(endpoint.deprecatedTopology ?? {}, at.child('deprecatedTopology'))
    if (endpoint.hostname !== undefined)
      yield* validateDNSLabel(endpoint.hostname ?? '', at.child('hostname'))
    if (endpoint.hints) yield* validateHints(endpoint.hints, at.child('hints'))
  }
}

function* validateAddresses(addresses: readonly string[], type: string, path: field.Path): Findings {
  if (addresses.length === 0) yield field.required(path, 'must contain at least 1 address')
  else if (addresses.length > maxAddresses) yield field.tooMany(path, addresses.length, maxAddresses)
  for (const [index, address] of addresses.entries()) {
    const at = path.index(index)
    if (type === 'FQDN') yield* validateDomainName(address, at)
    if (type !== 'IPv4' && type !== 'IPv6') continue
    const errors = type === 'IPv4' ? legacyIP(at, address) : isValidIP(at, address)
    yield* errors
    if (errors.length > 0) continue
    if (type === 'IPv4' ? !isIPv4(address) : !isIPv6(address))
      yield field.invalid(path, address, `must be an ${type} address`)
    yield* validateEndpointIP(address, at)
  }
}

/** A domain name of two labels or more; a dot at the end does not count. */
function* validateDomainName(address: string, path: field.Path): Findings {
  if (address === '') {
    yield field.required(path)
    return
  }
  const name = address.endsWith('.') ? address.slice(0, -1) : address
  const problems = isDNS1123Subdomain(name)
  const labels = name.split('.')
  if (problems.length > 0) yield field.invalid(path, name, problems.join(','))
  else if (labels.length < 2)
    yield field.invalid(path, name, 'should be a domain with at least two segments separated by dots')
  else {
    const bad = labels.map(isDNS1123Label).find(messages => messages.length > 0)
    if (bad) yield field.invalid(path, name, bad.join(','))
  }
}

function* validateTopology(topology: Record<string, string>, path: field.Path): Findings {
  const count = Object.keys(topology).length
  if (count > maxTopologyLabels) yield field.tooMany(path, count, maxTopologyLabels)
  yield* validateLabels(topology, path)
}

function* validateHints(hints: Decoded<EndpointHints>, path: field.Path): Findings {
  const kinds = [
    ['forZones', isValidLabelValue],
    ['forNodes', (name: string) => nameIsDNSSubdomain(name, false)],
  ] as const
  for (const [kind, problemsOf] of kinds) {
    const given = (hints[kind] ?? []).map(({ name }) => name ?? '')
    const at = path.child(kind)
    if (given.length > maxHints) {
      yield field.tooMany(at, given.length, maxHints)
      return
    }
    const seen = new Set<string>()
    for (const [index, name] of given.entries()) {
      const namePath = at.index(index).child('name')
      if (seen.has(name)) yield field.duplicate(namePath, name)
      seen.add(name)
      yield* invalidBecause(namePath, name, problemsOf(name))
    }
  }
}
