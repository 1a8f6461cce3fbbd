import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { serviceAccountUser } from '../service-account-name.ts'

export interface Reference {
  readonly name: string
  readonly uid: string
}

/** The claim `kubernetes.io`. */
export interface BoundClaims {
  readonly namespace: string
  readonly serviceAccount: Reference
  readonly pod?: Reference
  readonly secret?: Reference
  readonly node?: Reference
  /** Seconds since the epoch after which use of the token is reported as stale. */
  readonly warnAfter?: number
}

export interface TokenTemplate extends BoundClaims {
  readonly audiences: readonly string[]
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly expirationSeconds: number
  readonly id: string
}

/** The claims of a new token, in upstream's order (by name). */
export function writeClaims(template: TokenTemplate, issuer: string): JsonObject {
  const { namespace, serviceAccount, pod, secret, node, warnAfter, audiences, id } = template
  const now = Math.floor(template.now / 1000)
  return {
    aud: audiences,
    exp: now + template.expirationSeconds,
    iat: now,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(node && { node: writeReference(node) }),
      ...(pod && { pod: writeReference(pod) }),
      ...(secret && { secret: writeReference(secret) }),
      serviceaccount: writeReference(serviceAccount),
      ...(warnAfter !== undefined && { warnafter: warnAfter }),
    },
    nbf: now,
    sub: serviceAccountUser(namespace, serviceAccount.name),
  }
}

/** A node that no longer exists has only a name. */
function writeReference({ name, uid }: Reference): JsonObject {
  return { name, ...(uid !== '' && { uid }) }
}

/** Undefined when it is not a service account token. */
export function readBoundClaims(claims: JsonObject): BoundClaims | undefined {
  const about = claims['kubernetes.io']
  if (!isObject(about)) return undefined
  const serviceAccount = readReference(about.serviceaccount)
  if (typeof about.namespace !== 'string' || !serviceAccount) return undefined
  const pod = readReference(about.pod)
  const secret = readReference(about.secret)
  const node = readReference(about.node)
  return {
    namespace: about.namespace,
    serviceAccount,
    ...(pod && { pod }),
    ...(secret && { secret }),
    ...(node && { node }),
    ...(typeof about.warnafter === 'number' && { warnAfter: about.warnafter }),
  }
}

function readReference(value: unknown): Reference | undefined {
  if (!isObject(value)) return undefined
  const { name = '', uid = '' } = value
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined
}
