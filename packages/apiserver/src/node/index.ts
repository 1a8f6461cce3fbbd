/**
 * Node.js implementations for the API server: synchronous signing and verifying keys, verification of certificates and
 * certificate requests, and a thread that parses YAML.
 * @module
 */
export { createIssuerCheck } from './certificates.ts'
export { generateSigningKey, importJwk, readSigningKey, readVerificationKeys } from './keys.ts'
export { verifySignature } from './signatures.ts'
export { createYamlThread } from './yaml-thread.ts'
