import { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from '@coxswain/wire'

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Whether one of the CAs in `pem` signed a peer's certificate itself. Throws an Error when there is none in it. */
export function createIssuerCheck(pem: string): (peer: PeerCertificate) => boolean {
  const authorities = (pem.match(block) ?? []).map(text => new X509Certificate(text))
  if (authorities.length === 0) throw new Error('data does not contain any certificate')
  // A connection has one record of its peer, and many requests.
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
