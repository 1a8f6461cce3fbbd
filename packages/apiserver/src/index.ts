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
  type ChosenPlugins,
  chooseAdmissionPlugins,
  defaultAdmissionPlugins,
  type PluginChoice,
  type PluginConfigurations,
} from './admission/plugins.ts'
export type { AuthenticationOptions } from './authn/authentication.ts'
export {
  type Authentication,
  type Authenticator,
  anonymous,
  authenticateCertificate,
  createTokenAuthenticator,
  type TokenAnswer,
  type TokenAuthenticator,
  type TokenOwner,
  type TokenQuestion,
} from './authn/authenticator.ts'
export { signJwt } from './authn/jwt/jwt.ts'
export type { Jwk, SignatureAlgorithm, SigningKey, VerificationKey } from './authn/jwt/keys.ts'
export type { ServiceAccountOptions } from './authn/service-account/issuer.ts'
export { parseTokenFile } from './authn/token-file.ts'
export {
  type Access,
  type Authorizer,
  allow,
  alwaysAllow,
  alwaysDeny,
  type Decision,
  deny,
  noOpinion,
} from './authz/authorizer.ts'
export { createRbacAuthorizer } from './authz/rbac/rbac-authorizer.ts'
export { authorizePrivileged, createDefaultAuthorizer, createUnionAuthorizer } from './authz/union.ts'
export { isProxyPath } from './handlers/proxies.ts'
export { type ComponentCheck, type ComponentHealth, isHealthPath } from './health.ts'
export type { Dialer, DialTls } from './nodes/dialer.ts'
export type { KubeletClient } from './nodes/kubelet.ts'
export type {
  NodeConnection,
  NodeLogOptions,
  PodAddress,
  PortStream,
  TerminalStreams,
} from './nodes/node-connection.ts'
export type { AcceptSpdy, SpdyStream } from './nodes/spdy.ts'
export { noOutbound, type Outbound, type Target } from './outbound/outbound.ts'
export { OutboundPool, type OutboundRequest, type OutboundResult } from './outbound/outbound-pool.ts'
export type {
  WebhookAuthentication,
  WebhookCall,
  WebhookClientConfig,
  WebhookCredentials,
} from './outbound/webhook-client.ts'
export type { UserInfo } from './request/context.ts'
export { type ApiServer, type ApiServerOptions, createApiServer } from './server.ts'
