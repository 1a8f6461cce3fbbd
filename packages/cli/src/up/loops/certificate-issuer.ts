import type { CertificateIssuer } from '@coxswain/controllers'
import type { Env } from '@coxswain/kit'
import { type KeyPair, readCertificate, readCertificateRequest, signCertificate } from '@coxswain/wire/node'

/** The longest validity of a client certificate, in seconds. */
const longest = 365 * 24 * 3600
/** The allowance for servers whose clocks are behind. */
const backdate = 300_000

/** Signs client certificates with the key of the data directory's CA. */
export function createCertificateIssuer(ca: KeyPair, { clock, random }: Env): CertificateIssuer {
  const end = readCertificate(ca.certificate).notAfter
  return {
    read(pem) {
      const { subject, dnsNames, ipAddresses, emailAddresses, uris } = readCertificateRequest(pem)
      const others = [...dnsNames, ...ipAddresses, ...emailAddresses, ...uris]
      const { commonName, organizations } = subject
      return { commonName, organizations, hasOtherNames: others.length > 0 }
    },
    sign(pem, seconds = longest) {
      const { subject, publicKey } = readCertificateRequest(pem)
      const now = clock.now()
      const notAfter = Math.min(now + Math.min(seconds, longest) * 1000, end)
      const template = { subject, usages: ['client'] as const, notBefore: now - backdate, notAfter }
      return signCertificate(template, publicKey, random, ca)
    },
  }
}
