import { quoteAll } from '@coxswain/apimachinery/go'
import { BoundedMap } from '@coxswain/kit'
import type { TokenAnswer, TokenAuthenticator, TokenQuestion } from '../authenticator.ts'
import { credentialIdKey, intersect } from '../authenticator.ts'
import { isSignedBy, type Jwt, parseJwtOnce, readAudience } from '../jwt/jwt.ts'
import { serviceAccountGroups, serviceAccountUser } from '../service-account-name.ts'
import type { BoundResource } from './bound-objects.ts'
import type { CheckResult, TokenSubject } from './check-result.ts'
import { type BoundClaims, type Reference, readBoundClaims } from './claims.ts'
import type { ServiceAccounts } from './issuer.ts'
import { checkLegacyToken, legacyIssuer } from './legacy.ts'

/** How far the clock of a signing server may be ahead. */
const leeway = 60_000
/** How long a token remains valid after its expiry, or after its account's deletion. Upstream allows a minute for both; ten seconds are enough. */
const grace = 10_000
/** How long a token remains valid after the Pod, Secret or Node it is bound to was marked for deletion. */
const boundGrace = 60_000
/** Verified signatures are cached. Everything else is checked for every request. */
const rememberedTokens = 500
const longestRemembered = 8 * 1024

/** Legacy tokens of Secrets, then tokens of TokenRequests. */
export function createServiceAccountAuthenticators(accounts: ServiceAccounts): TokenAuthenticator[] {
  const verified = new BoundedMap<string, Jwt>(rememberedTokens)

  /** What is wrong with the signature, in upstream's words; undefined for tokens of other issuers. */
  function verify(
    token: string,
    issuers: readonly string[],
    question: TokenQuestion,
  ): Jwt | string | undefined {
    const known = verified.get(token)
    if (known) return issuers.includes(known.claims.iss as string) ? known : undefined
    const jwt = parseJwtOnce(token, question)
    if (!jwt || !issuers.includes(jwt.claims.iss as string)) return undefined
    const { verificationKeys } = accounts
    const keys = verificationKeys.filter(({ keyId }) => jwt.keyId === '' || jwt.keyId === keyId)
    if (keys.length === 0) return 'invalid signature, no keys found'
    if (!isSignedBy(jwt, keys)) return 'go-jose/go-jose: error in cryptographic primitive'
    if (token.length > longestRemembered) return jwt
    verified.set(token, jwt)
    return jwt
  }

  const authenticateWith =
    (
      issuers: readonly string[],
      check: (jwt: Jwt, question: TokenQuestion, token: string) => CheckResult | Promise<CheckResult>,
    ): TokenAuthenticator =>
    (token, question) => {
      const jwt = verify(token, issuers, question)
      if (!jwt) return undefined
      if (typeof jwt === 'string') return { error: jwt }
      const own = question.server.audiences
      let meant = readAudience(jwt.claims.aud)
      if (!meant) return { error: 'the audience cannot be read' }
      if (meant.length === 0) {
        meant = own
        question.annotations?.set('authentication.k8s.io/legacy-token', String(jwt.claims.sub))
      }
      const audiences = intersect(meant, question.audiences)
      if (audiences.length === 0 && own.length > 0) {
        return {
          error: `token audiences ${quoteAll(meant)} is invalid for the target audiences ${quoteAll(question.audiences)}`,
        }
      }
      const finish = (result: CheckResult): TokenAnswer =>
        'error' in result ? result : ownerOf(result, audiences)
      const result = check(jwt, question, token)
      return result instanceof Promise ? result.then(finish) : finish(result)
    }

  return [authenticateWith([legacyIssuer], checkLegacyToken), authenticateWith(accounts.issuers, checkToken)]
}

function ownerOf(
  { namespace, account, pod, node, id }: TokenSubject,
  audiences: readonly string[],
): TokenAnswer {
  const prefix = 'authentication.kubernetes.io'
  const extra = {
    ...(id && { [credentialIdKey]: [`JTI=${id}`] }),
    ...(node?.name && { [`${prefix}/node-name`]: [node.name] }),
    ...(node?.name && node.uid && { [`${prefix}/node-uid`]: [node.uid] }),
    ...(pod?.name && pod.uid && { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] }),
  }
  const user = {
    name: serviceAccountUser(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
  return { user, audiences }
}

function checkToken({ claims }: Jwt, question: TokenQuestion): CheckResult {
  const { server, annotations } = question
  const now = server.clock.now()
  const lifetime = checkLifetime(claims, now)
  if (lifetime !== undefined) return { error: lifetime }
  const bound = readBoundClaims(claims)
  if (!bound) return { error: 'the token is not about a service account' }
  const problem = checkBinding(bound, question, now)
  if (problem !== undefined) return { error: problem }
  if (bound.warnAfter && now > bound.warnAfter * 1000) {
    const late = Math.floor(now / 1000) - bound.warnAfter
    annotations?.set(
      'authentication.k8s.io/stale-token',
      `subject: ${claims.sub}, seconds after warning threshold: ${late}`,
    )
  }
  return {
    namespace: bound.namespace,
    account: bound.serviceAccount,
    ...(bound.pod && { pod: bound.pod }),
    ...(bound.node && { node: bound.node }),
    ...(typeof claims.jti === 'string' && { id: claims.jti }),
  }
}

/** What is wrong with the times of a token. A time that is not a number counts as not yet reached, or as passed. */
function checkLifetime({ nbf, exp, iat }: Jwt['claims'], now: number): string | undefined {
  const isBefore = (time: unknown) => time !== undefined && !(Number(time) * 1000 <= now + leeway)
  if (isBefore(nbf)) return 'service account token is not valid yet'
  if (exp !== undefined && !(now - grace <= Number(exp) * 1000)) return 'service account token has expired'
  if (isBefore(iat)) return 'service account token is issued in the future'
  return undefined
}

const invalidated = 'service account token has been invalidated'

function checkBinding(bound: BoundClaims, { server }: TokenQuestion, now: number): string | undefined {
  const { namespace, serviceAccount, secret, pod, node } = bound
  const find = (resource: BoundResource, name: string) => server.objects.find(resource, namespace, name)
  const account = find('serviceaccounts', serviceAccount.name)
  if (!account) return `serviceaccounts ${JSON.stringify(serviceAccount.name)} not found`
  if (account.uid !== serviceAccount.uid)
    return `service account UID (${account.uid}) does not match claim (${serviceAccount.uid})`
  if (account.deletedAt !== undefined && account.deletedAt < now - grace)
    return `service account ${namespace}/${serviceAccount.name} has been deleted`
  const check = (resource: BoundResource, kind: string, reference: Reference): string | undefined => {
    const object = find(resource, reference.name)
    if (!object) return invalidated
    if (object.uid !== reference.uid)
      return `${kind} UID (${object.uid}) does not match service account ${kind} ref claim (${reference.uid})`
    return object.deletedAt !== undefined && object.deletedAt < now - boundGrace ? invalidated : undefined
  }
  return (
    (secret && check('secrets', 'secret', secret)) ??
    (pod && check('pods', 'pod', pod)) ??
    // A Pod's node is only informational; a token that is bound to a node alone becomes invalid with it.
    (node && !pod ? check('nodes', 'node', node) : undefined)
  )
}
