/**
 * The API server: a function from a plain request record to a plain response record.
 *
 *   request -> filters -> route -> verb handler -> store
 *                                     |
 *                               watch cache <- store
 *
 * It opens no socket and starts nothing before `run`.
 * @module
 */
export type { Admission, AdmissionPlugin, Attributes } from './admission/admission.ts'
export {
  type Authenticator,
  anonymous,
  authenticateCertificate,
  createTokenAuthenticator,
} from './authn/authenticator.ts'
export { parseTokenFile } from './authn/token-file.ts'
export {
  type Access,
  type Authorizer,
  allow,
  alwaysAllow,
  alwaysDeny,
  authorizeMasters,
  type Decision,
  deny,
  noOpinion,
} from './authz/authorizer.ts'
export { noOutbound, type Outbound, type Target } from './outbound/outbound.ts'
export type { UserInfo } from './request/context.ts'
export { type ApiServer, type ApiServerOptions, createApiServer, defaultAdmissionPlugins } from './server.ts'
