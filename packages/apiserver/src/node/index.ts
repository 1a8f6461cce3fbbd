/**
 * What the API server needs of Node: keys that sign and verify, synchronously, who signed a certificate, and a thread
 * that reads YAML.
 * @module
 */
export { createIssuerCheck } from './certificates.ts'
export { generateSigningKey, importJwk, readSigningKey, readVerificationKeys } from './keys.ts'
export { createYamlThread } from './yaml-thread.ts'
