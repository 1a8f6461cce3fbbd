/**
 * Operators on Node.js: loading them from a file, endpoints over HTTP, webhooks over HTTPS.
 * @module
 */
export type { CertificateFiles } from './certificate-files.ts'
export { createCertificateMaker } from './certificate-maker.ts'
export { createDebugHandler, type DebugHandler, type DebugOptions } from './debug-handler.ts'
export {
  type EndpointOptions,
  type Endpoints,
  type EndpointTls,
  parseBindAddress,
  serveEndpoint,
} from './endpoints.ts'
export { loadOperator } from './load-operator.ts'
export { createWebhookListener, type WebhookListenerOptions } from './webhook-listener.ts'
