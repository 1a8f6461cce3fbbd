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
export type { Admission, AdmissionPlugin } from './admission/admission.ts'
export type { Attributes } from './admission/attributes.ts'
export {
  type ChosenPlugins,
  chooseAdmissionPlugins,
  defaultAdmissionPlugins,
  type PluginChoice,
  type PluginConfigurations,
} from './admission/plugins.ts'
export type { AuthenticationOptions } from './authentication/authentication.ts'
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
} from './authentication/authenticator.ts'
export { signJwt } from './authentication/jwt/jwt.ts'
export type { Jwk, SignatureAlgorithm, SigningKey, VerificationKey } from './authentication/jwt/keys.ts'
export type { ServiceAccountOptions } from './authentication/service-account/issuer.ts'
export { parseTokenFile } from './authentication/token-file.ts'
export {
  type Access,
  type Authorizer,
  allow,
  alwaysAllow,
  alwaysDeny,
  type Decision,
  deny,
  noOpinion,
} from './authorization/authorizer.ts'
export {
  type AuthorizationPorts,
  type AuthorizerFactory,
  defaultAuthorizer,
  rbacAuthorizer,
  unionAuthorizer,
} from './authorization/authorizer-factory.ts'
export { authorizePrivileged } from './authorization/union.ts'
export { encodeStored } from './cache/stored-object.ts'
export type { OwnResource, OwnResources } from './custom-resources/own-resource.ts'
export type { ChangedPart, ComputeObjects, OwnServer } from './custom-resources/own-server.ts'
export { type ComponentCheck, type ComponentHealth, isHealthPath } from './endpoints/health.ts'
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
export type {
  AdmissionOptions,
  ApiServerOptions,
  LimitOptions,
  NetworkOptions,
  NodeOptions,
  PlatformOptions,
} from './options.ts'
export { noOutbound, type Outbound, type Target } from './outbound/outbound.ts'
export { OutboundPool, type OutboundRequest, type OutboundResult } from './outbound/outbound-pool.ts'
export type {
  WebhookAuthentication,
  WebhookCall,
  WebhookClientConfig,
  WebhookCredentials,
} from './outbound/webhook-client.ts'
export { type Endpoint, objectKey, type ResourceHandler } from './registry/registry.ts'
export type { ResourceContext, UserInfo } from './request/context.ts'
export { type ApiServer, createApiServer } from './server.ts'
