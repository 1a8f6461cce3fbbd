import * as field from '@coxswain/apimachinery/field'
import { isDNS1123Subdomain } from '@coxswain/apimachinery/validation'
import type { ClaimValidationRule, JwtAuthenticator, PrefixedClaimOrExpression } from './configuration.ts'

type FieldErrors = ReturnType<typeof field.invalid>[]

/** Compiles an expression, or reports its error. */
export type CheckExpression = (
  source: string,
  variable: 'claims' | 'user',
  kind: 'bool' | 'any',
) => string | undefined

/** What is wrong with the configuration of an identity provider, in upstream's words. */
export function validateJwtAuthenticator(
  authenticator: JwtAuthenticator,
  path: field.Path,
  surroundings: { readonly check: CheckExpression; readonly disallowedIssuers: readonly string[] },
): FieldErrors {
  const {
    issuer,
    claimMappings: mappings,
    claimValidationRules = [],
    userValidationRules = [],
  } = authenticator
  const { check, disallowedIssuers } = surroundings
  const errors: FieldErrors = []
  const compile = (source: string, at: field.Path, variable: 'claims' | 'user', kind: 'bool' | 'any') => {
    const problem = check(source, variable, kind)
    if (problem !== undefined) errors.push(field.invalid(at, source, problem))
  }

  for (const error of validateIssuer(issuer, path.child('issuer'), disallowedIssuers)) errors.push(error)
  const seenClaims = new Set<string>()
  const seenExpressions = new Set<string>()
  for (const [index, rule] of claimValidationRules.entries()) {
    const at = path.child('claimValidationRules').index(index)
    for (const error of validateClaimRule(rule, at, seenClaims)) errors.push(error)
    if (!rule.expression || rule.claim) continue
    if (seenExpressions.has(rule.expression)) {
      errors.push(field.duplicate(at.child('expression'), rule.expression))
    } else compile(rule.expression, at.child('expression'), 'claims', 'bool')
    seenExpressions.add(rule.expression)
  }

  const mappingsPath = path.child('claimMappings')
  const both = "claim and expression can't both be set"
  const validateMapping = (mapping: PrefixedClaimOrExpression, at: field.Path, isRequired: boolean) => {
    if (mapping.expression && mapping.claim) errors.push(field.invalid(at, '', both))
    else if (mapping.expression) {
      if (mapping.prefix !== undefined)
        errors.push(
          field.invalid(at.child('prefix'), mapping.prefix, 'may not be specified when expression is set'),
        )
      compile(mapping.expression, at.child('expression'), 'claims', 'any')
    } else if (mapping.claim) {
      if (mapping.prefix === undefined)
        errors.push(
          field.required(
            at.child('prefix'),
            'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
          ),
        )
    } else if (isRequired) errors.push(field.required(at, 'claim or expression is required'))
  }
  validateMapping(mappings.username, mappingsPath.child('username'), true)
  validateMapping(mappings.groups ?? {}, mappingsPath.child('groups'), false)
  const { uid = {}, extra = [] } = mappings
  const uidPath = mappingsPath.child('uid')
  if (uid.claim && uid.expression) errors.push(field.invalid(uidPath, '', both))
  else if (uid.expression) compile(uid.expression, uidPath.child('expression'), 'claims', 'any')

  const seenKeys = new Set<string>()
  for (const [index, { key = '', valueExpression = '' }] of extra.entries()) {
    const at = mappingsPath.child('extra').index(index)
    for (const error of validateExtraKey(key, at.child('key'))) errors.push(error)
    if (seenKeys.has(key)) {
      errors.push(field.duplicate(at.child('key'), key))
      continue
    }
    seenKeys.add(key)
    if (valueExpression === '') errors.push(field.required(at.child('valueExpression'), ''))
    else compile(valueExpression, at.child('valueExpression'), 'claims', 'any')
  }
  for (const error of validateEmail(authenticator, mappingsPath)) errors.push(error)

  const seenUserRules = new Set<string>()
  for (const [index, { expression = '' }] of userValidationRules.entries()) {
    const at = path.child('userValidationRules').index(index).child('expression')
    if (expression === '') errors.push(field.required(at, ''))
    else if (seenUserRules.has(expression)) errors.push(field.duplicate(at, expression))
    else compile(expression, at, 'user', 'bool')
    seenUserRules.add(expression)
  }
  return errors
}

function validateClaimRule(rule: ClaimValidationRule, at: field.Path, seen: Set<string>): FieldErrors {
  const { claim = '', expression = '', message = '', requiredValue = '' } = rule
  if (claim !== '' && expression !== '')
    return [field.invalid(at, claim, "claim and expression can't both be set")]
  if (claim === '' && expression === '') return [field.required(at, 'claim or expression is required')]
  const errors: FieldErrors = []
  if (claim !== '') {
    if (message !== '')
      errors.push(field.invalid(at.child('message'), message, 'may not be specified when claim is set'))
    if (seen.has(claim)) errors.push(field.duplicate(at.child('claim'), claim))
    seen.add(claim)
  } else if (requiredValue !== '') {
    const detail = 'may not be specified when expression is set'
    errors.push(field.invalid(at.child('requiredValue'), requiredValue, detail))
  }
  return errors
}

function validateIssuer(
  issuer: JwtAuthenticator['issuer'],
  path: field.Path,
  disallowed: readonly string[],
): FieldErrors {
  const { url, discoveryURL = '', audiences, audienceMatchPolicy = '', egressSelectorType = '' } = issuer
  const errors: FieldErrors =
    url === '' ? [field.required(path.child('url'), '')] : validateUrl(url, path.child('url'), disallowed)
  if (discoveryURL !== '') {
    const at = path.child('discoveryURL')
    const trim = (text: string) => text.replace(/\/+$/, '')
    if (url !== '' && trim(url) === trim(discoveryURL))
      errors.push(field.invalid(at, discoveryURL, 'discoveryURL must be different from URL'))
    for (const error of validateUrl(discoveryURL, at, [])) errors.push(error)
  }
  const audiencesPath = path.child('audiences')
  if (audiences.length === 0)
    errors.push(field.required(audiencesPath, `at least one ${audiencesPath} is required`))
  const seen = new Set<string>()
  for (const [index, audience] of audiences.entries()) {
    if (audience === '') errors.push(field.required(audiencesPath.index(index), ''))
    if (seen.has(audience)) errors.push(field.duplicate(audiencesPath.index(index), audience))
    seen.add(audience)
  }
  const policyPath = path.child('audienceMatchPolicy')
  if (audiences.length > 1 && audienceMatchPolicy !== 'MatchAny') {
    const detail = 'audienceMatchPolicy must be MatchAny for multiple audiences'
    errors.push(field.invalid(policyPath, audienceMatchPolicy, detail))
  } else if (audiences.length === 1 && audienceMatchPolicy !== '' && audienceMatchPolicy !== 'MatchAny') {
    const detail = 'audienceMatchPolicy must be empty or MatchAny for single audience'
    errors.push(field.invalid(policyPath, audienceMatchPolicy, detail))
  }
  if (egressSelectorType !== '') {
    const detail = 'this server has no egress selectors'
    errors.push(field.invalid(path.child('egressSelectorType'), egressSelectorType, detail))
  }
  return errors
}

function validateUrl(text: string, path: field.Path, disallowed: readonly string[]): FieldErrors {
  const errors: FieldErrors = []
  const invalid = (detail: string) => void errors.push(field.invalid(path, text, detail))
  if (disallowed.includes(text))
    invalid(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`)
  const [, scheme = '', authority = '', rest = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/i.exec(text) ?? []
  if (scheme.toLowerCase() !== 'https') invalid('URL scheme must be https')
  if (authority.includes('@')) invalid('URL must not contain a username or password')
  if (/\?[^#]/.test(rest)) invalid('URL must not contain a query')
  if (/#./.test(rest)) invalid('URL must not contain a fragment')
  return errors
}

function validateExtraKey(key: string, path: field.Path): FieldErrors {
  const errors: FieldErrors = []
  const slash = key.indexOf('/')
  if (key === '') errors.push(field.required(path, ''))
  else if (slash < 1 || slash === key.length - 1)
    errors.push(field.invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")'))
  else {
    const host = key.slice(0, slash)
    for (const detail of isDNS1123Subdomain(host)) errors.push(field.invalid(path, host, detail))
  }
  if (key !== key.toLowerCase()) errors.push(field.invalid(path, key, 'must be lowercase'))
  if (/^([^/]+\.)?(kubernetes|k8s)\.io\//.test(key)) {
    const detail = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
    errors.push(field.invalid(path, key, detail))
  }
  return errors
}

/** A username taken from the e-mail address requires a check that the address was verified. */
function validateEmail(authenticator: JwtAuthenticator, path: field.Path): FieldErrors {
  const { username, extra = [] } = authenticator.claimMappings
  const source = username.expression ?? ''
  if (!/\bclaims\s*\.\s*\??\s*email\b/.test(source)) return []
  const sources = [
    source,
    ...extra.map(({ valueExpression }) => valueExpression),
    ...(authenticator.claimValidationRules ?? []).map(({ expression = '' }) => expression),
  ]
  if (sources.some(text => /\bclaims\s*\.\s*\??\s*email_verified\b/.test(text))) return []
  return [
    field.invalid(
      path.child('username', 'expression'),
      source,
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ),
  ]
}
