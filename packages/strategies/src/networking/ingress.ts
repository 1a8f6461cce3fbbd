import type { TypedLocalObjectReference } from '@coxswain/api/core/v1'
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressStatus,
  IngressTLS,
} from '@coxswain/api/networking/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import {
  isDNS1123Subdomain,
  isValidPathSegmentName,
  isValidPortName,
  isValidPortNum,
  isWildcardDNS1123Subdomain,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  parseIP,
  warningsForIP,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { type Findings, invalidBecause, numberOf } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { ingressIPs, legacyIP, printLoadBalancer } from './addresses.ts'

const classAnnotation = 'kubernetes.io/ingress.class'
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const badSequences = ['//', '/./', '/../', '%2f', '%2F']
const badEndings = ['/..', '/.']
const shownHosts = 3
const specPath = field.Path.of('spec')
const ingressPath = field.Path.of('status', 'loadBalancer', 'ingress')

/** Values that were invalid in the stored object may stay invalid. */
interface IngressRules {
  readonly allowBadSecretName: boolean
  readonly allowBadWildcardRule: boolean
}

const strict: IngressRules = { allowBadSecretName: false, allowBadWildcardRule: false }

export const ingressStrategy: Strategy = defineStrategy<Ingress>({
  generation: true,
  validate(object, _context, old) {
    const spec = object.spec ?? {}
    const errors = [...validateSpec(spec, old ? rulesFor(old.spec ?? {}) : strict)]
    return old ? errors : [...errors, ...validateClassAnnotation(object)]
  },
  validateStatusUpdate: (object, old) => validateStatus(object.status, ingressIPs(old.status)),
  warnings(object, old) {
    const annotated = object.metadata.annotations?.[classAnnotation] !== undefined
    if (old || !annotated || object.spec?.ingressClassName !== undefined) return []
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
  },
  statusWarnings: object => loadBalancerWarnings(object.status),
  cells(object, now) {
    const spec = object.spec ?? {}
    return {
      Name: nameCell(object),
      Class: spec.ingressClassName ?? '<none>',
      Hosts: printHosts(spec.rules ?? []),
      Address: printLoadBalancer(object.status),
      Ports: (spec.tls ?? []).length > 0 ? '80, 443' : '80',
      Age: ageCell(object, now),
    }
  },
})

/** Warnings about the addresses in `status.loadBalancer`. */
export function loadBalancerWarnings(status: Decoded<IngressStatus> | null | undefined): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
    (ip ?? '') === '' ? [] : warningsForIP(ingressPath.index(index), ip ?? ''),
  )
}

function printHosts(rules: readonly Decoded<IngressRule>[]): string {
  const hosts: string[] = []
  let more = false
  for (const { host } of rules) {
    if (hosts.length === shownHosts) more = true
    if (!more && (host ?? '') !== '') hosts.push(host ?? '')
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - shownHosts} more...` : hosts.join(',')
}

function rulesFor(old: Decoded<IngressSpec>): IngressRules {
  return {
    allowBadSecretName: (old.tls ?? []).some(({ secretName }) => secretNameProblems(secretName).length > 0),
    allowBadWildcardRule: (old.rules ?? []).some(
      rule => (rule.host ?? '').includes('*') && [...validateRuleValue(rule, specPath)].length > 0,
    ),
  }
}

const secretNameProblems = (name: string | null | undefined): readonly string[] =>
  (name ?? '') === '' ? [] : nameIsDNSSubdomain(name ?? '', false)

function validateClassAnnotation(object: Decoded<Ingress>): FieldError[] {
  const annotation = object.metadata.annotations?.[classAnnotation]
  const { ingressClassName } = object.spec ?? {}
  if (annotation === undefined || ingressClassName === undefined || annotation === ingressClassName) return []
  const path = field.Path.of('annotations').child(classAnnotation)
  return [field.invalid(path, annotation, 'must match `ingressClassName` when both are specified')]
}

function* validateSpec(spec: Decoded<IngressSpec>, rules: IngressRules): Findings {
  if ((spec.rules ?? []).length === 0 && spec.defaultBackend === undefined) {
    const message = 'either `defaultBackend` or `rules` must be specified'
    yield field.invalid(specPath, spec.rules ?? null, message)
  }
  if (spec.defaultBackend) yield* validateBackend(spec.defaultBackend, specPath.child('defaultBackend'))
  for (const [index, rule] of (spec.rules ?? []).entries()) {
    const path = specPath.child('rules').index(index)
    const host = rule.host ?? ''
    yield* validateRuleHost(host, path.child('host'))
    if (!host.includes('*') || !rules.allowBadWildcardRule) yield* validateRuleValue(rule, path)
  }
  for (const [index, tls] of (spec.tls ?? []).entries())
    yield* validateTls(tls, rules, specPath.child('tls').index(index))
  if (spec.ingressClassName !== undefined) {
    const name = spec.ingressClassName ?? ''
    yield* invalidBecause(specPath.child('ingressClassName'), name, nameIsDNSSubdomain(name, false))
  }
}

const hostProblems = (host: string): readonly string[] =>
  host.includes('*') ? isWildcardDNS1123Subdomain(host) : isDNS1123Subdomain(host)

function* validateRuleHost(host: string, path: field.Path): Findings {
  if (host === '') return
  if (parseIP(host)) yield field.invalid(path, host, 'must be a DNS name, not an IP address')
  yield* invalidBecause(path, host, hostProblems(host))
}

function* validateTls(tls: Decoded<IngressTLS>, rules: IngressRules, path: field.Path): Findings {
  for (const [index, host] of (tls.hosts ?? []).entries())
    yield* invalidBecause(path.child('hosts').index(index), host, hostProblems(host))
  if (!rules.allowBadSecretName)
    yield* invalidBecause(path.child('secretName'), tls.secretName, secretNameProblems(tls.secretName))
}

function* validateRuleValue(rule: Decoded<IngressRule>, rulePath: field.Path): Findings {
  if (!rule.http) return
  const path = rulePath.child('http').child('paths')
  const paths = rule.http.paths ?? []
  if (paths.length === 0) yield field.required(path)
  for (const [index, item] of paths.entries()) yield* validateHttpPath(item, path.index(index))
}

function* validateHttpPath(item: Decoded<HTTPIngressPath>, path: field.Path): Findings {
  if (item.pathType === undefined || item.pathType === null) {
    yield field.required(path.child('pathType'), 'pathType must be specified')
    return
  }
  const text = item.path ?? ''
  const at = path.child('path')
  const isRelative = !text.startsWith('/')
  switch (item.pathType) {
    case 'Exact':
    case 'Prefix':
      if (isRelative) yield field.invalid(at, text, 'must be an absolute path')
      for (const bad of badSequences)
        if (text.includes(bad)) yield field.invalid(at, text, `must not contain '${bad}'`)
      for (const bad of badEndings)
        if (text.endsWith(bad)) yield field.invalid(at, text, `cannot end with '${bad}'`)
      break
    case 'ImplementationSpecific':
      if (text !== '' && isRelative) yield field.invalid(at, text, 'must be an absolute path')
      break
    default:
      yield field.notSupported(path.child('pathType'), item.pathType, pathTypes)
  }
  yield* validateBackend(item.backend ?? {}, path.child('backend'))
}

function* validateBackend(backend: Decoded<IngressBackend>, path: field.Path): Findings {
  const { resource, service } = backend
  if (resource && service) yield field.invalid(path, '', 'cannot set both resource and service backends')
  else if (resource) yield* validateTypedReference(resource, path.child('resource'))
  else if (service) yield* validateServiceBackend(service, path)
  else yield field.invalid(path, '', 'resource or service backend is required')
}

function* validateServiceBackend(service: Decoded<IngressServiceBackend>, path: field.Path): Findings {
  const name = service.name ?? ''
  const namePath = path.child('service').child('name')
  if (name === '') yield field.required(namePath)
  else yield* invalidBecause(namePath, name, nameIsDNSLabel(name, false))
  const port = service.port ?? {}
  const portName = port.name ?? ''
  const portNumber = numberOf(port.number)
  const portPath = path.child('service').child('port')
  if (portName !== '' && portNumber !== 0)
    yield field.invalid(path, '', 'cannot set both port name & port number')
  else if (portName !== '') yield* invalidBecause(portPath.child('name'), portName, isValidPortName(portName))
  else if (portNumber !== 0)
    yield* invalidBecause(portPath.child('number'), portNumber, isValidPortNum(portNumber))
  else yield field.required(path, 'port name or number is required')
}

/** A reference to an object by group, kind and name. */
export function* validateTypedReference(
  reference: Decoded<TypedLocalObjectReference>,
  path: field.Path,
): Findings {
  if (reference.apiGroup !== undefined && reference.apiGroup !== null) {
    const group = reference.apiGroup ?? ''
    yield* invalidBecause(path.child('apiGroup'), group, isDNS1123Subdomain(group))
  }
  yield* requireSegment(reference.kind, path.child('kind'))
  yield* requireSegment(reference.name, path.child('name'))
}

export function* requireSegment(value: string | null | undefined, path: field.Path): Findings {
  const text = value ?? ''
  if (text === '') yield field.required(path)
  else yield* invalidBecause(path, text, isValidPathSegmentName(text))
}

function* validateStatus(
  status: Decoded<IngressStatus> | null | undefined,
  validOld: ReadonlySet<string>,
): Findings {
  for (const [index, entry] of (status?.loadBalancer?.ingress ?? []).entries()) {
    const path = ingressPath.index(index)
    if ((entry.ip ?? '') !== '') yield* legacyIP(path.child('ip'), entry.ip ?? '', validOld)
    yield* validateStatusHostname(entry.hostname ?? '', path.child('hostname'))
  }
}

/** The name under which a load balancer is reached. */
export function* validateStatusHostname(hostname: string, path: field.Path): Findings {
  if (hostname === '') return
  yield* invalidBecause(path, hostname, isDNS1123Subdomain(hostname))
  if (parseIP(hostname)) yield field.invalid(path, hostname, 'must be a DNS name, not an IP address')
}
