import { constants, createPublicKey, verify } from 'node:crypto'
import type { VerifySignature } from '@coxswain/strategies'

/** Verifies signatures of certificate requests with node:crypto, for `ApiServerOptions.platform`. */
export const verifySignature: VerifySignature = ({ scheme, hash, message, signature, publicKey }) => {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    return verify(hash ?? null, message, scheme === 'RSA-PSS' ? { key, ...pss } : key, signature)
  } catch {
    return false // a key or signature that cannot be parsed
  }
}
