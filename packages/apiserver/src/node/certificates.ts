import { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '@coxswain/wire'

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Creates a check whether one of the CAs in `pem` signed a peer's certificate directly. Throws an Error when `pem` has no certificate. */
export function createIssuerCheck(pem: string): (peer: PeerCertificate) => boolean {
  const authorities = (pem.match(block) ?? []).map(text => new X509Certificate(text))
  if (authorities.length === 0) throw new Error('data does not contain any certificate')
  // All requests of a connection share one peer record.
  const known = new WeakMap<PeerCertificate, boolean>()
  return peer => {
    let answer = known.get(peer)
    if (answer === undefined) {
      answer = isIssuedBy(peer, authorities)
      known.set(peer, answer)
    }
    return answer
  }
}

function isIssuedBy({ raw }: PeerCertificate, authorities: readonly X509Certificate[]): boolean {
  if (!raw) return false
  const certificate = new X509Certificate(raw)
  return authorities.some(ca => certificate.checkIssued(ca) && certificate.verify(ca.publicKey))
}
