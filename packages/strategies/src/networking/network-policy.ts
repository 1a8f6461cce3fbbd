import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
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
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause, listOf, objectOf, stringsOf, textOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { legacyCIDR } from './addresses.ts'

const protocols = ['TCP', 'UDP', 'SCTP']
const policyTypes = ['Ingress', 'Egress']
const specPath = field.Path.of('spec')

/** Rules for traffic in name their peers `from`, those for traffic out `to`. */
const directions = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const

interface PolicyRules {
  readonly allowInvalidLabelValue: boolean
  readonly validOld: ReadonlySet<string>
}

export const networkPolicyStrategy: Strategy = {
  generation: true,
  default(object) {
    const spec = objectOf(object.spec)
    for (const [direction] of directions) {
      for (const rule of listOf(spec[direction]))
        for (const port of listOf(rule.ports)) port.protocol ??= 'TCP'
    }
    if (stringsOf(spec.policyTypes).length === 0)
      spec.policyTypes = listOf(spec.egress).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
  },
  validate: (object, _context, old) => validateSpec(objectOf(object.spec), rulesFor(old)),
  warnings: object =>
    [...blocksOf(objectOf(object.spec))].flatMap(([block, path]) => [
      ...warningsForCIDR(path.child('cidr'), textOf(block.cidr)),
      ...stringsOf(block.except).flatMap((except, index) =>
        warningsForCIDR(path.child('except').index(index), except),
      ),
    ]),
  cells: (object, now) => [
    nameCell(object),
    formatLabelSelector(objectOf(objectOf(object.spec).podSelector) as LabelSelector),
    ageCell(object, now),
  ],
}

function rulesFor(old: JsonObject | undefined): PolicyRules {
  if (!old) return { allowInvalidLabelValue: false, validOld: new Set() }
  const spec = objectOf(old.spec)
  const problems = validateLabelSelector(spec.podSelector as LabelSelector | undefined, specPath)
  const validOld = new Set(
    blocksOf(spec).flatMap(([block]) => [textOf(block.cidr), ...stringsOf(block.except)]),
  )
  return { allowInvalidLabelValue: problems.length > 0, validOld }
}

/** Every ipBlock with its path. */
function* blocksOf(spec: JsonObject): Generator<[JsonObject, field.Path]> {
  for (const [direction, peers] of directions) {
    for (const [i, rule] of listOf(spec[direction]).entries()) {
      for (const [j, peer] of listOf(rule[peers]).entries()) {
        const path = specPath.child(direction).index(i).child(peers).index(j).child('ipBlock')
        if (isObject(peer.ipBlock)) yield [peer.ipBlock, path]
      }
    }
  }
}

function* validateSpec(spec: JsonObject, rules: PolicyRules): Findings {
  yield* validateLabelSelector(
    spec.podSelector as LabelSelector | undefined,
    specPath.child('podSelector'),
    rules,
  )
  for (const [direction, peers] of directions) {
    for (const [index, rule] of listOf(spec[direction]).entries()) {
      const path = specPath.child(direction).index(index)
      for (const [i, port] of listOf(rule.ports).entries())
        yield* validatePort(port, path.child('ports').index(i))
      for (const [i, peer] of listOf(rule[peers]).entries())
        yield* validatePeer(peer, rules, path.child(peers).index(i))
    }
  }
  const types = stringsOf(spec.policyTypes)
  const path = specPath.child('policyTypes')
  if (types.length > policyTypes.length) {
    yield field.invalid(path, types, 'may not specify more than two policyTypes')
    return
  }
  for (const [index, type] of types.entries())
    if (!policyTypes.includes(type)) yield field.notSupported(path.index(index), type, policyTypes)
}

function* validatePort({ protocol, port, endPort }: JsonObject, path: field.Path): Findings {
  const endPath = path.child('endPort')
  if (protocol !== undefined && !protocols.includes(textOf(protocol)))
    yield field.notSupported(path.child('protocol'), protocol, protocols)
  if (typeof port === 'number') {
    yield* invalidBecause(path.child('port'), port, isValidPortNum(port))
    if (endPort === undefined) return
    if (Number(endPort) < port) yield field.invalid(endPath, port, 'must be greater than or equal to `port`')
    yield* invalidBecause(endPath, endPort, isValidPortNum(Number(endPort)))
  } else if (port !== undefined) {
    if (endPort !== undefined)
      yield field.invalid(endPath, endPort, 'may not be specified when `port` is non-numeric')
    yield* invalidBecause(path.child('port'), port, isValidPortName(textOf(port)))
  } else if (endPort !== undefined)
    yield field.invalid(endPath, endPort, 'may not be specified when `port` is not specified')
}

function* validatePeer(peer: JsonObject, rules: PolicyRules, path: field.Path): Findings {
  const selectors = ['podSelector', 'namespaceSelector'].filter(name => peer[name] !== undefined)
  for (const name of selectors)
    yield* validateLabelSelector(peer[name] as LabelSelector, path.child(name), rules)
  if (isObject(peer.ipBlock)) yield* validateBlock(peer.ipBlock, rules, path.child('ipBlock'))
  if (selectors.length === 0 && peer.ipBlock === undefined) yield field.required(path, 'must specify a peer')
  else if (selectors.length > 0 && peer.ipBlock !== undefined)
    yield field.forbidden(path, 'may not specify both ipBlock and another peer')
}

function* validateBlock(block: JsonObject, { validOld }: PolicyRules, path: field.Path): Findings {
  const text = textOf(block.cidr)
  if (text === '') {
    yield field.required(path.child('cidr'))
    return
  }
  yield* legacyCIDR(path.child('cidr'), text, validOld)
  const cidr = parseCIDR(text)
  if (!cidr) return
  for (const [index, except] of stringsOf(block.except).entries()) {
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
