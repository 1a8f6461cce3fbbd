import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '@coxswain/api/networking/v1'
import * as field from '@coxswain/apimachinery/field'
import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { formatLabelSelector } from '@coxswain/apimachinery/selectors'
import {
  type CIDR,
  isValidPortName,
  isValidPortNum,
  maskIP,
  parseCIDR,
  validateLabelSelector,
  warningsForCIDR,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { legacyCIDR } from './addresses.ts'

const protocols = ['TCP', 'UDP', 'SCTP']
const policyTypes = ['Ingress', 'Egress']
const specPath = field.Path.of('spec')

interface TrafficRule {
  readonly path: field.Path
  readonly ports: readonly Decoded<NetworkPolicyPort>[]
  readonly peers: readonly Decoded<NetworkPolicyPeer>[]
  readonly peersPath: 'from' | 'to'
}

/** All rules; those for traffic in name their peers `from`, those for traffic out `to`. */
function* trafficRules({ ingress, egress }: Decoded<NetworkPolicySpec>): Generator<TrafficRule> {
  for (const [i, { ports, from }] of (ingress ?? []).entries()) {
    const path = specPath.child('ingress').index(i)
    yield { path, ports: ports ?? [], peers: from ?? [], peersPath: 'from' }
  }
  for (const [i, { ports, to }] of (egress ?? []).entries()) {
    const path = specPath.child('egress').index(i)
    yield { path, ports: ports ?? [], peers: to ?? [], peersPath: 'to' }
  }
}

interface PolicyRules {
  readonly allowInvalidLabelValue: boolean
  readonly validOld: ReadonlySet<string>
}

export const networkPolicyStrategy: Strategy = defineStrategy<NetworkPolicy>({
  generation: true,
  default(object) {
    const spec = object.spec ?? {}
    for (const { ports } of trafficRules(spec)) for (const port of ports) port.protocol ??= 'TCP'
    if ((spec.policyTypes ?? []).length === 0)
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
  },
  validate: (object, _context, old) => validateSpec(object.spec ?? {}, rulesFor(old)),
  warnings: object =>
    [...blocksOf(object.spec ?? {})].flatMap(([block, path]) => [
      ...warningsForCIDR(path.child('cidr'), block.cidr ?? ''),
      ...(block.except ?? []).flatMap((except, index) =>
        warningsForCIDR(path.child('except').index(index), except),
      ),
    ]),
  cells: (object, now) => ({
    Name: nameCell(object),
    'Pod-Selector': formatLabelSelector((object.spec?.podSelector ?? {}) as LabelSelector),
    Age: ageCell(object, now),
  }),
})

function rulesFor(old: Decoded<NetworkPolicy> | undefined): PolicyRules {
  if (!old) return { allowInvalidLabelValue: false, validOld: new Set() }
  const spec = old.spec ?? {}
  const problems = validateLabelSelector(spec.podSelector as LabelSelector | undefined, specPath)
  const validOld = new Set(blocksOf(spec).flatMap(([block]) => [block.cidr ?? '', ...(block.except ?? [])]))
  return { allowInvalidLabelValue: problems.length > 0, validOld }
}

/** Every ipBlock with its path. */
function* blocksOf(spec: Decoded<NetworkPolicySpec>): Generator<[Decoded<IPBlock>, field.Path]> {
  for (const { path, peers, peersPath } of trafficRules(spec)) {
    for (const [i, { ipBlock }] of peers.entries())
      if (ipBlock) yield [ipBlock, path.child(peersPath).index(i).child('ipBlock')]
  }
}

function* validateSpec(spec: Decoded<NetworkPolicySpec>, rules: PolicyRules): Findings {
  yield* validateLabelSelector(
    spec.podSelector as LabelSelector | undefined,
    specPath.child('podSelector'),
    rules,
  )
  for (const { path, ports, peers, peersPath } of trafficRules(spec)) {
    for (const [i, port] of ports.entries()) yield* validatePort(port, path.child('ports').index(i))
    for (const [i, peer] of peers.entries()) yield* validatePeer(peer, rules, path.child(peersPath).index(i))
  }
  const types = spec.policyTypes ?? []
  const path = specPath.child('policyTypes')
  if (types.length > policyTypes.length) {
    yield field.invalid(path, types, 'may not specify more than two policyTypes')
    return
  }
  for (const [index, type] of types.entries())
    if (!policyTypes.includes(type)) yield field.notSupported(path.index(index), type, policyTypes)
}

function* validatePort({ protocol, port, endPort }: Decoded<NetworkPolicyPort>, path: field.Path): Findings {
  const endPath = path.child('endPort')
  if (protocol !== undefined && !protocols.includes(protocol ?? ''))
    yield field.notSupported(path.child('protocol'), protocol, protocols)
  if (typeof port === 'number') {
    yield* invalidBecause(path.child('port'), port, isValidPortNum(port))
    if (endPort === undefined) return
    if (Number(endPort) < port) yield field.invalid(endPath, port, 'must be greater than or equal to `port`')
    yield* invalidBecause(endPath, endPort, isValidPortNum(Number(endPort)))
  } else if (port !== undefined) {
    if (endPort !== undefined)
      yield field.invalid(endPath, endPort, 'may not be specified when `port` is non-numeric')
    yield* invalidBecause(path.child('port'), port, isValidPortName(port ?? ''))
  } else if (endPort !== undefined)
    yield field.invalid(endPath, endPort, 'may not be specified when `port` is not specified')
}

function* validatePeer(peer: Decoded<NetworkPolicyPeer>, rules: PolicyRules, path: field.Path): Findings {
  const selectors = (['podSelector', 'namespaceSelector'] as const).filter(name => peer[name] !== undefined)
  for (const name of selectors)
    yield* validateLabelSelector(peer[name] as LabelSelector, path.child(name), rules)
  if (peer.ipBlock) yield* validateBlock(peer.ipBlock, rules, path.child('ipBlock'))
  if (selectors.length === 0 && peer.ipBlock === undefined) yield field.required(path, 'must specify a peer')
  else if (selectors.length > 0 && peer.ipBlock !== undefined)
    yield field.forbidden(path, 'may not specify both ipBlock and another peer')
}

function* validateBlock(block: Decoded<IPBlock>, { validOld }: PolicyRules, path: field.Path): Findings {
  const text = block.cidr ?? ''
  if (text === '') {
    yield field.required(path.child('cidr'))
    return
  }
  yield* legacyCIDR(path.child('cidr'), text, validOld)
  const cidr = parseCIDR(text)
  if (!cidr) return
  for (const [index, except] of (block.except ?? []).entries()) {
    const at = path.child('except').index(index)
    yield* legacyCIDR(at, except, validOld)
    const inner = parseCIDR(except)
    if (inner && !isStrictlyWithin(inner, cidr))
      yield field.invalid(at, except, 'must be a strict subset of `cidr`')
  }
}

function isStrictlyWithin(inner: CIDR, outer: CIDR): boolean {
  const { bytes } = inner.address
  if (bytes.length !== outer.address.bytes.length || inner.prefix <= outer.prefix) return false
  const network = maskIP(outer.address.bytes, outer.prefix)
  return maskIP(bytes, outer.prefix).every((byte, index) => byte === network[index])
}
