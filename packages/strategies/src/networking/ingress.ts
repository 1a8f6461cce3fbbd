import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
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
import { ageCell, nameCell } from '../shared/cells.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  objectOf,
  recordOf,
  stringsOf,
  textOf,
} from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { ingressIPs, legacyIP, printLoadBalancer } from './addresses.ts'

const classAnnotation = 'kubernetes.io/ingress.class'
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const badSequences = ['//', '/./', '/../', '%2f', '%2F']
const badEndings = ['/..', '/.']
const shownHosts = 3
const specPath = field.Path.of('spec')
const ingressPath = field.Path.of('status', 'loadBalancer', 'ingress')

/** What an older object had wrong may stay wrong. */
interface IngressRules {
  readonly allowBadSecretName: boolean
  readonly allowBadWildcardRule: boolean
}

const strict: IngressRules = { allowBadSecretName: false, allowBadWildcardRule: false }

export const ingressStrategy: Strategy = {
  generation: true,
  validate(object, _context, old) {
    const spec = objectOf(object.spec)
    const errors = [...validateSpec(spec, old ? rulesFor(objectOf(old.spec)) : strict)]
    return old ? errors : [...errors, ...validateClassAnnotation(object)]
  },
  validateStatusUpdate: (object, old) => validateStatus(object.status, ingressIPs(old.status)),
  warnings(object, old) {
    const annotated = recordOf(objectOf(object.metadata).annotations)[classAnnotation] !== undefined
    if (old || !annotated || objectOf(object.spec).ingressClassName !== undefined) return []
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
  },
  statusWarnings: object => loadBalancerWarnings(object.status),
  cells(object, now) {
    const spec = objectOf(object.spec)
    return [
      nameCell(object),
      spec.ingressClassName ?? '<none>',
      printHosts(listOf(spec.rules)),
      printLoadBalancer(object.status),
      listOf(spec.tls).length > 0 ? '80, 443' : '80',
      ageCell(object, now),
    ]
  },
}

/** Warnings about the addresses in `status.loadBalancer`. */
export function loadBalancerWarnings(status: unknown): string[] {
  return listOf(objectOf(objectOf(status).loadBalancer).ingress).flatMap(({ ip }, index) =>
    textOf(ip) === '' ? [] : warningsForIP(ingressPath.index(index), textOf(ip)),
  )
}

function printHosts(rules: readonly JsonObject[]): string {
  const hosts: string[] = []
  let more = false
  for (const { host } of rules) {
    if (hosts.length === shownHosts) more = true
    if (!more && textOf(host) !== '') hosts.push(textOf(host))
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - shownHosts} more...` : hosts.join(',')
}

function rulesFor(old: JsonObject): IngressRules {
  return {
    allowBadSecretName: listOf(old.tls).some(({ secretName }) => secretNameProblems(secretName).length > 0),
    allowBadWildcardRule: listOf(old.rules).some(
      rule => textOf(rule.host).includes('*') && [...validateRuleValue(rule, specPath)].length > 0,
    ),
  }
}

const secretNameProblems = (name: unknown): readonly string[] =>
  textOf(name) === '' ? [] : nameIsDNSSubdomain(textOf(name), false)

function validateClassAnnotation(object: JsonObject): FieldError[] {
  const annotation = recordOf(objectOf(object.metadata).annotations)[classAnnotation]
  const { ingressClassName } = objectOf(object.spec)
  if (annotation === undefined || ingressClassName === undefined || annotation === ingressClassName) return []
  const path = field.Path.of('annotations').child(classAnnotation)
  return [field.invalid(path, annotation, 'must match `ingressClassName` when both are specified')]
}

function* validateSpec(spec: JsonObject, rules: IngressRules): Findings {
  if (listOf(spec.rules).length === 0 && spec.defaultBackend === undefined) {
    const message = 'either `defaultBackend` or `rules` must be specified'
    yield field.invalid(specPath, spec.rules ?? null, message)
  }
  if (isObject(spec.defaultBackend))
    yield* validateBackend(spec.defaultBackend, specPath.child('defaultBackend'))
  for (const [index, rule] of listOf(spec.rules).entries()) {
    const path = specPath.child('rules').index(index)
    const host = textOf(rule.host)
    yield* validateRuleHost(host, path.child('host'))
    if (!host.includes('*') || !rules.allowBadWildcardRule) yield* validateRuleValue(rule, path)
  }
  for (const [index, tls] of listOf(spec.tls).entries())
    yield* validateTls(tls, rules, specPath.child('tls').index(index))
  if (spec.ingressClassName !== undefined) {
    const name = textOf(spec.ingressClassName)
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

function* validateTls(tls: JsonObject, rules: IngressRules, path: field.Path): Findings {
  for (const [index, host] of stringsOf(tls.hosts).entries())
    yield* invalidBecause(path.child('hosts').index(index), host, hostProblems(host))
  if (!rules.allowBadSecretName)
    yield* invalidBecause(path.child('secretName'), tls.secretName, secretNameProblems(tls.secretName))
}

function* validateRuleValue(rule: JsonObject, rulePath: field.Path): Findings {
  if (!isObject(rule.http)) return
  const path = rulePath.child('http').child('paths')
  const paths = listOf(rule.http.paths)
  if (paths.length === 0) yield field.required(path)
  for (const [index, item] of paths.entries()) yield* validateHttpPath(item, path.index(index))
}

function* validateHttpPath(item: JsonObject, path: field.Path): Findings {
  if (item.pathType === undefined || item.pathType === null) {
    yield field.required(path.child('pathType'), 'pathType must be specified')
    return
  }
  const text = textOf(item.path)
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
  yield* validateBackend(objectOf(item.backend), path.child('backend'))
}

function* validateBackend(backend: JsonObject, path: field.Path): Findings {
  const { resource, service } = backend
  if (isObject(resource) && isObject(service))
    yield field.invalid(path, '', 'cannot set both resource and service backends')
  else if (isObject(resource)) yield* validateTypedReference(resource, path.child('resource'))
  else if (isObject(service)) yield* validateServiceBackend(service, path)
  else yield field.invalid(path, '', 'resource or service backend is required')
}

function* validateServiceBackend(service: JsonObject, path: field.Path): Findings {
  const name = textOf(service.name)
  const namePath = path.child('service').child('name')
  if (name === '') yield field.required(namePath)
  else yield* invalidBecause(namePath, name, nameIsDNSLabel(name, false))
  const port = objectOf(service.port)
  const portName = textOf(port.name)
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
export function* validateTypedReference(reference: JsonObject, path: field.Path): Findings {
  if (reference.apiGroup !== undefined && reference.apiGroup !== null) {
    const group = textOf(reference.apiGroup)
    yield* invalidBecause(path.child('apiGroup'), group, isDNS1123Subdomain(group))
  }
  yield* requireSegment(reference.kind, path.child('kind'))
  yield* requireSegment(reference.name, path.child('name'))
}

export function* requireSegment(value: unknown, path: field.Path): Findings {
  const text = textOf(value)
  if (text === '') yield field.required(path)
  else yield* invalidBecause(path, text, isValidPathSegmentName(text))
}

function* validateStatus(status: unknown, validOld: ReadonlySet<string>): Findings {
  for (const [index, entry] of listOf(objectOf(objectOf(status).loadBalancer).ingress).entries()) {
    const path = ingressPath.index(index)
    if (textOf(entry.ip) !== '') yield* legacyIP(path.child('ip'), textOf(entry.ip), validOld)
    yield* validateStatusHostname(textOf(entry.hostname), path.child('hostname'))
  }
}

/** The name under which a load balancer is reached. */
export function* validateStatusHostname(hostname: string, path: field.Path): Findings {
  if (hostname === '') return
  yield* invalidBecause(path, hostname, isDNS1123Subdomain(hostname))
  if (parseIP(hostname)) yield field.invalid(path, hostname, 'must be a DNS name, not an IP address')
}
