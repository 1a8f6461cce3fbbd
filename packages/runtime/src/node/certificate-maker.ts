import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Random } from '@coxswain/kit'
import { createCertificate, readCertificate } from '@coxswain/wire/node'
import type { CertificateMaker } from '../webhook/certificates.ts'

/** Creates certificates with Node's crypto: ECDSA on P-256. */
export function createCertificateMaker(random: Random): CertificateMaker {
  return {
    createCa: (name, validity) =>
      // A new name each time: a CA and its successor must not be confused.
      createCertificate(
        { subject: { commonName: `${name}-${random.suffix(8)}` }, usages: ['ca'], ...validity },
        random,
      ),
    createServer: (hosts, validity, ca) =>
      createCertificate(
        { subject: { commonName: hosts[0] ?? 'webhook' }, usages: ['server'], hosts, ...validity },
        random,
        ca,
      ),
    read: ({ certificate, key }) => {
      try {
        if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return undefined
        const { notBefore, notAfter, hosts } = readCertificate(certificate)
        return { notBefore, notAfter, hosts }
      } catch {
        return undefined
      }
    },
    isSignedBy: (certificate, ca) => {
      try {
        const issuer = new X509Certificate(ca)
        const subject = new X509Certificate(certificate)
        return subject.checkIssued(issuer) && subject.verify(issuer.publicKey)
      } catch {
        return false
      }
    },
  }
}
