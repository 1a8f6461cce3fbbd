import { isObject, type JsonObject } from '@coxswain/apimachinery/json'

/** AuthenticationConfiguration (`apiserver.config.k8s.io/v1`), as far as it is supported. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[]
  readonly anonymous?: AnonymousConfiguration
}

/** `anonymous` of AuthenticationConfiguration. */
export interface AnonymousConfiguration {
  readonly enabled: boolean
  readonly conditions: readonly { readonly path: string }[]
}

/** One entry of `jwt` in AuthenticationConfiguration. */
export interface JwtAuthenticator {
  readonly issuer: {
    readonly url: string
    readonly discoveryURL?: string
    /** PEM. */
    readonly certificateAuthority?: string
    readonly audiences: readonly string[]
    readonly audienceMatchPolicy?: string
    readonly egressSelectorType?: string
  }
  readonly claimValidationRules?: readonly ClaimValidationRule[]
  readonly claimMappings: {
    readonly username: PrefixedClaimOrExpression
    readonly groups?: PrefixedClaimOrExpression
    readonly uid?: { readonly claim?: string; readonly expression?: string }
    readonly extra?: readonly { readonly key: string; readonly valueExpression: string }[]
  }
  readonly userValidationRules?: readonly { readonly expression: string; readonly message?: string }[]
}

export interface ClaimValidationRule {
  readonly claim?: string
  readonly requiredValue?: string
  readonly expression?: string
  readonly message?: string
}

export interface PrefixedClaimOrExpression {
  readonly claim?: string
  readonly prefix?: string
  readonly expression?: string
}

const group = 'apiserver.config.k8s.io'
const versions = ['v1', 'v1beta1', 'v1alpha1']

/** The members of each record: `s` a string, `b` a boolean, `S` strings, or the members of a record; `[...]` for a list of records. */
type Shape = { readonly [member: string]: 's' | 'b' | 'S' | Shape | readonly [Shape] }

const claimShape: Shape = { claim: 's', prefix: 's', expression: 's' }
const documentShape: Shape = {
  apiVersion: 's',
  kind: 's',
  jwt: [
    {
      issuer: {
        url: 's',
        discoveryURL: 's',
        certificateAuthority: 's',
        audiences: 'S',
        audienceMatchPolicy: 's',
        egressSelectorType: 's',
      },
      claimValidationRules: [{ claim: 's', requiredValue: 's', expression: 's', message: 's' }],
      claimMappings: {
        username: claimShape,
        groups: claimShape,
        uid: { claim: 's', expression: 's' },
        extra: [{ key: 's', valueExpression: 's' }],
      },
      userValidationRules: [{ expression: 's', message: 's' }],
    },
  ],
  anonymous: { enabled: 'b', conditions: [{ path: 's' }] },
}

/** Parses a document. Throws an Error that names the problem; unknown members are one. {@link compileJwtAuthenticator} checks the rules. */
export function readAuthenticationConfiguration(document: unknown): AuthenticationConfiguration {
  if (!isObject(document)) throw new Error('the document is not an object')
  const { apiVersion, kind } = document
  if (
    kind !== 'AuthenticationConfiguration' ||
    !versions.some(version => apiVersion === `${group}/${version}`)
  ) {
    throw new Error(
      `expected AuthenticationConfiguration of ${group}/v1, got ${String(kind)} of ${String(apiVersion)}`,
    )
  }
  checkShape(document, documentShape, '')
  const { jwt = [], anonymous } = document as JsonObject & Partial<AuthenticationConfiguration>
  const complete = jwt.map(({ issuer, claimMappings, ...rest }) => ({
    ...rest,
    issuer: { ...issuer, url: issuer?.url ?? '', audiences: issuer?.audiences ?? [] },
    claimMappings: { ...claimMappings, username: claimMappings?.username ?? {} },
  }))
  return {
    jwt: complete,
    ...(anonymous && {
      anonymous: { enabled: anonymous.enabled ?? false, conditions: anonymous.conditions ?? [] },
    }),
  }
}

function checkShape(value: unknown, shape: Shape, path: string): void {
  if (!isObject(value)) throw new Error(`${path} must be an object`)
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    const expected = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (expected === undefined) throw new Error(`unknown field ${JSON.stringify(at)}`)
    if (member === null || member === undefined) {
      delete value[name]
    } else if (expected === 's' || expected === 'b') {
      if (typeof member !== (expected === 's' ? 'string' : 'boolean'))
        throw new Error(`${at} must be a ${expected === 's' ? 'string' : 'boolean'}`)
    } else if (expected === 'S') {
      if (!Array.isArray(member) || member.some(item => typeof item !== 'string'))
        throw new Error(`${at} must be a list of strings`)
    } else if (Array.isArray(expected)) {
      if (!Array.isArray(member)) throw new Error(`${at} must be a list`)
      for (const [index, item] of member.entries()) checkShape(item, expected[0] as Shape, `${at}[${index}]`)
    } else checkShape(member, expected as Shape, at)
  }
}
