import { field, isDNS1123Subdomain, validateLabelSelector } from '@coxswain/apimachinery'
import { isObject, type JsonObject } from '../../../json.ts'
import { validateDownwardFile, validateKeyToPath } from './files.ts'
import { validateFileMode, validateLocalPath } from './paths.ts'
import {
  type Findings,
  invalidBecause,
  listOf,
  numberOf,
  printed,
  recordOf,
  requireMembers,
  textOf,
  validateOneOf,
  validateQualifiedName,
} from './reading.ts'

/** Files from several sources in one directory; no two may have the same path. */
export function* validateProjected(projected: JsonObject, path: field.Path): Findings {
  yield* validateFileMode(projected.defaultMode, path.child('defaultMode'))
  const seen = new Set<string>()
  for (const [index, source] of listOf(projected.sources).entries()) {
    const at = path.child('sources').index(index)
    yield* validateKeyedSource(source, 'secret', at, path, seen)
    yield* validateKeyedSource(source, 'configMap', at, path, seen)
    if (isObject(source.downwardAPI)) {
      for (const file of listOf(source.downwardAPI.items)) {
        yield* validateDownwardFile(file, at.child('downwardAPI'))
        if (textOf(file.path) !== '') yield* claimPath(seen, textOf(file.path), textOf(file.path), path)
      }
    }
    if (isObject(source.serviceAccountToken)) yield* validateToken(source.serviceAccountToken, at, path)
    if (isObject(source.clusterTrustBundle))
      yield* validateTrustBundle(source.clusterTrustBundle, at.child('clusterTrustBundle'), path, seen)
    if (isObject(source.podCertificate))
      yield* validateCertificate(source.podCertificate, at.child('podCertificate'), path, seen)
    if (Object.values(source).filter(isObject).length > 1)
      yield field.forbidden(at, 'may not specify more than 1 volume type per source')
  }
}

function* claimPath(seen: Set<string>, target: string, value: string, path: field.Path): Findings {
  if (seen.has(target)) yield field.invalid(path, value, 'conflicting duplicate paths')
  seen.add(target)
}

function* validateKeyedSource(
  source: JsonObject,
  type: 'secret' | 'configMap',
  at: field.Path,
  path: field.Path,
  seen: Set<string>,
): Findings {
  const keyed = source[type]
  if (!isObject(keyed)) return
  yield* requireMembers(keyed, ['name'], at.child(type))
  for (const [index, item] of listOf(keyed.items).entries()) {
    yield* validateKeyToPath(item, at.child(type, 'items').index(index))
    if (textOf(item.path) !== '') yield* claimPath(seen, textOf(item.path), textOf(keyed.name), path)
  }
}

function* validateToken(token: JsonObject, at: field.Path, path: field.Path): Findings {
  const seconds = numberOf(token.expirationSeconds)
  const expiration = at.child('serviceAccountToken', 'expirationSeconds')
  if (seconds < 600)
    yield field.invalid(
      expiration,
      token.expirationSeconds ?? 0,
      'may not specify a duration less than 10 minutes',
    )
  if (seconds > 2 ** 32)
    yield field.invalid(
      expiration,
      token.expirationSeconds,
      'may not specify a duration larger than 2^32 seconds',
    )
  yield* requireMembers(token, ['path'], path)
  yield* validateLocalPath(textOf(token.path), path.child('path'))
}

function* validateTrustBundle(
  bundle: JsonObject,
  at: field.Path,
  path: field.Path,
  seen: Set<string>,
): Findings {
  const { name, signerName } = bundle
  if (name !== undefined && signerName !== undefined) {
    yield field.invalid(at, printed(bundle), 'only one of name and signerName may be used')
  } else if (name !== undefined) {
    if (name === '') yield field.required(at.child('name'), 'must be a valid object name')
    yield* validateTrustBundleName(textOf(name), at.child('name'))
    if (bundle.labelSelector !== undefined)
      yield field.invalid(
        at.child('labelSelector'),
        printed(bundle.labelSelector),
        'labelSelector must be unset if name is specified',
      )
  } else if (signerName !== undefined) {
    if (signerName === '') yield field.required(at.child('signerName'), 'must be a valid signer name')
    yield* validateSignerName(textOf(signerName), at.child('signerName'))
    yield* validateLabelSelector(bundle.labelSelector as never, at.child('labelSelector'))
  } else {
    yield field.required(at, 'either name or signerName must be specified')
  }
  yield* requireMembers(bundle, ['path'], at)
  yield* validateLocalPath(textOf(bundle.path), at.child('path'))
  yield* claimPath(seen, textOf(bundle.path), textOf(bundle.path), path)
}

/** The name of a bundle of a signer begins with the signer's, colons for slashes; that of any other is a subdomain. */
function* validateTrustBundleName(name: string, path: field.Path): Findings {
  const last = name.lastIndexOf(':')
  const messages = isDNS1123Subdomain(last < 0 ? name : name.slice(last + 1))
  yield* invalidBecause(
    path,
    name,
    messages.map(message => `not a valid clustertrustbundlename: ${message}`),
  )
}

/** `domain/path`: a fully qualified domain of at least two labels, and a path of subdomains. */
export function* validateSignerName(name: string, path: field.Path): Findings {
  if (name === '') {
    yield field.required(path)
    return
  }
  const [domain = '', ...rest] = name.split('/')
  if (rest.length === 0) {
    const message = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    yield field.invalid(path, name, message)
    return
  }
  for (const message of isDNS1123Subdomain(domain))
    yield field.invalid(path, domain, `validating label "${domain}": ${message}`)
  if (!domain.includes('.'))
    yield field.invalid(path, domain, 'should be a domain with at least two segments separated by dots')
  for (const part of rest.join('/').split('/'))
    for (const message of isDNS1123Subdomain(part))
      yield field.invalid(path, part, `validating label "${part}": ${message}`)
}

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const maxExpiration = 7862400
const maxKubernetesExpiration = 86400

function* validateCertificate(
  certificate: JsonObject,
  at: field.Path,
  path: field.Path,
  seen: Set<string>,
): Findings {
  const signer = textOf(certificate.signerName)
  yield* validateSignerName(signer, at.child('signerName'))
  for (const key of Object.keys(recordOf(certificate.userAnnotations)))
    yield* validateQualifiedName(key, at.child('userAnnotations'))
  yield* validateOneOf(certificate.keyType, keyTypes, at.child('keyType'))
  const seconds = certificate.maxExpirationSeconds
  if (seconds !== undefined) {
    const secondsPath = at.child('maxExpirationSeconds')
    const max = signer.startsWith('kubernetes.io/') ? maxKubernetesExpiration : maxExpiration
    if (Number(seconds) < 3600)
      yield field.invalid(secondsPath, seconds, 'if provided, maxExpirationSeconds must be >= 3600')
    if (Number(seconds) > max)
      yield field.invalid(secondsPath, seconds, `if provided, maxExpirationSeconds must be <= ${max}`)
  }
  let paths = 0
  for (const member of ['credentialBundlePath', 'keyPath', 'certificateChainPath']) {
    const target = textOf(certificate[member])
    if (target === '') continue
    paths++
    yield* validateLocalPath(target, at.child(member))
    yield* claimPath(seen, target, target, path)
  }
  if (paths === 0) {
    const message = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'
    yield field.required(at, message)
  }
}
