/** Reads certificates, certificate requests and PEM, as far as Kubernetes needs them. No cryptography. */
export {
  type DerElement,
  derTags,
  readDer,
  readDerText,
  readDerTime,
  readLatin1,
  readObjectIdentifier,
  readWithin,
} from './der.ts'
export { nameAttributes, readX509Name, type X509Name } from './name.ts'
export { type PemBlock, readPem } from './pem.ts'
