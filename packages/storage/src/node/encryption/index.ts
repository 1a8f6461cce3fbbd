/**
 * Encryption at rest, by a Kubernetes EncryptionConfiguration: values are encrypted between the server and the store.
 * @module
 */
export { type Encryption, readEncryption } from './configuration.ts'
export { createEncryptedStore, type EncryptedStore } from './encrypted-store.ts'
