/**
 * Sockets: the server and the client's transport over TLS, HTTP/2 and HTTP/1.1, and the certificates they need; and a
 * transport between two threads, without sockets.
 * @module
 */
export { type ClientTls, type ConnectOptions, connect } from './client/connect.ts'
export { type SocketDialer, socketDialer } from './client/dialer.ts'
export {
  createHttpTransport,
  type HttpTransport,
  type HttpTransportOptions,
} from './client/http-transport.ts'
export { nodeCompression } from './gzip.ts'
export { defaultLimits, type ServerLimits } from './server/limits.ts'
export type { NamedCertificate } from './server/named-certificates.ts'
export {
  type CloseOptions,
  type HttpServer,
  type ServeOptions,
  type ServerTls,
  serve,
} from './server/serve.ts'
export type { PassThrough } from './server/server-core.ts'
export { acceptSpdy, type SpdyStream } from './spdy/session.ts'
export { serveThread } from './thread/serve-thread.ts'
export { createThreadTransport } from './thread/thread-transport.ts'
export { createWebSocketUpgrade, type WebSocketOptions } from './websocket/upgrade.ts'
export {
  type CertificateTemplate,
  createCertificate,
  generateKey,
  type KeyPair,
  type Signer,
  signCertificate,
} from './x509/certificate.ts'
export { createCertificateRequest } from './x509/create-request.ts'
export type { SubjectName } from './x509/name.ts'
export { decodePem, encodePem } from './x509/pem.ts'
export { type CertificateInfo, readCertificate, readPeerCertificate } from './x509/read.ts'
export { type CertificateRequest, readCertificateRequest } from './x509/request.ts'
