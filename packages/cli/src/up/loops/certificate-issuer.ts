import type { CertificateIssuer } from '@coxswain/controllers'
import type { Env } from '@coxswain/kit'
import { type KeyPair, readCertificate, readCertificateRequest, signCertificate } from '@coxswain/wire/node'

/** The longest that a certificate lasts, in seconds. */
const longest = 365 * 24 * 3600
const purposes = ['client', 'server'] as const
/** Clocks of servers may be behind. */
const backdate = 300_000

/** Signs certificates with the key of the data directory's CA. */
export function createCertificateIssuer(ca: KeyPair, { clock, random }: Env): CertificateIssuer {
  const end = readCertificate(ca.certificate).notAfter
  return {
    read(pem) {
      const { subject, dnsNames, ipAddresses, emailAddresses, uris } = readCertificateRequest(pem)
      const { commonName, organizations } = subject
      return { commonName, organizations, dnsNames, ipAddresses, emailAddresses, uris }
    },
    sign(pem, { seconds = longest, usages }) {
      const { subject, publicKey, dnsNames, ipAddresses } = readCertificateRequest(pem)
      const now = clock.now()
      const notAfter = Math.min(now + Math.min(seconds, longest) * 1000, end)
      const template = {
        subject,
        usages: purposes.filter(purpose => usages.includes(`${purpose} auth`)),
        enciphersKeys: usages.includes('key encipherment'),
        hosts: [...dnsNames, ...ipAddresses],
        notBefore: now - backdate,
        notAfter,
      }
      return signCertificate(template, publicKey, random, ca)
    },
  }
}
