/**
 * Authenticators that a server uses only when they are configured: bootstrap tokens, front proxies, webhooks and
 * OpenID providers.
 *
 * @module
 */
export { authenticateBootstrapToken } from './bootstrap-token.ts'
export { createOidcAuthenticator, type OidcOptions, signatureAlgorithms } from './oidc/authenticator.ts'
export {
  type AnonymousConfiguration,
  type AuthenticationConfiguration,
  type JwtAuthenticator,
  readAuthenticationConfiguration,
} from './oidc/configuration.ts'
export {
  createProxyAuthenticators,
  proxyHeadersOf,
  type RequestHeaderOptions,
} from './request-header.ts'
export { uniteTokens } from './union.ts'
export { createWebhookTokenAuthenticator, type WebhookTokenOptions } from './webhook-token.ts'
