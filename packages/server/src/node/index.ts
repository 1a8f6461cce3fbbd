/**
 * API servers of one's own on Node.js: TLS, the trust of a cluster's aggregator, and a listener for web frameworks.
 * @module
 */
export { toNodeListener } from './listener.ts'
export { type RequestHeaders, readRequestHeaders } from './request-headers.ts'
export { type ServeApiServerOptions, type ServedApiServer, serveApiServer } from './serve.ts'
export { type ServeAloneOptions, serveAlone } from './serve-alone.ts'
