/**
 * An API server of one's own on Node.js: served over TLS, alone or behind an aggregator, or in a web framework.
 * @module
 */
export {
  type RequestHeaders,
  readRequestHeaders,
  type ServeAloneOptions,
  type ServeApiServerOptions,
  type ServedApiServer,
  serveAlone,
  serveApiServer,
  toNodeListener,
} from '@coxswain/server/node'
