import type { WireResponse } from '@coxswain/wire'
import {
  describeIssuer,
  describeKeys,
  type ServiceAccounts,
} from '../authentication/service-account/issuer.ts'
import type { ClusterNetwork, RequestContext } from '../request/context.ts'

const configurationPath = '/.well-known/openid-configuration'
const keysPath = '/openid/v1/jwks'
/** Relying parties may cache the documents for an hour. */
const cacheControl = 'public, max-age=3600'

/** The issuer of service account tokens, and the server's own address. */
export interface IssuerPorts {
  readonly serviceAccounts: ServiceAccounts | undefined
  readonly advertise: ClusterNetwork['advertise']
}

/** What relying parties need to verify service account tokens. Undefined for other paths, and without an issuer. */
export async function serveIssuer(
  { serviceAccounts: accounts, advertise }: IssuerPorts,
  { request }: RequestContext,
): Promise<WireResponse | undefined> {
  if (!accounts) return undefined
  const answer = (type: string, body: Uint8Array): WireResponse => ({
    status: 200,
    headers: { 'content-type': type, 'cache-control': cacheControl },
    body,
  })
  if (!isHttpsUrl(accounts.issuers[0]!)) return undefined
  if (request.path === keysPath) return answer('application/jwk-set+json', describeKeys(accounts))
  if (request.path !== configurationPath) return undefined
  return answer('application/json', describeIssuer(accounts, await locateKeys(advertise, accounts.jwksUri)))
}

/** Upstream serves neither document for an issuer that is not a URL. */
function isHttpsUrl(issuer: string): boolean {
  return /^https:\/\/[^?#]*$/.test(issuer)
}

async function locateKeys(
  advertise: IssuerPorts['advertise'],
  given: ServiceAccounts['jwksUri'],
): Promise<string> {
  if (given !== undefined) return typeof given === 'string' ? given : await given()
  const { address, port } = await advertise()
  const host = address.includes(':') ? `[${address}]` : address
  return `https://${host}:${port}${keysPath}`
}
