import { createSeededRandom } from '@coxswain/kit'
import { createCertificate, type KeyPair } from '../x509/certificate.ts'

/** Certificates for tests: a CA, a server on this machine, a client it signed, and one of another CA. */
export interface TestCertificates {
  readonly ca: KeyPair
  readonly server: KeyPair
  readonly client: KeyPair
  readonly untrusted: KeyPair
}

const day = 86_400_000

export function createTestCertificates(): TestCertificates {
  const random = createSeededRandom(1)
  const validity = { notBefore: Date.now() - day, notAfter: Date.now() + day }
  const ca = createCertificate({ subject: { commonName: 'test-ca' }, usages: ['ca'], ...validity }, random)
  const other = createCertificate(
    { subject: { commonName: 'other-ca' }, usages: ['ca'], ...validity },
    random,
  )
  const hosts = ['localhost', '127.0.0.1', '::1']
  const admin = { commonName: 'admin', organizations: ['system:masters', 'ops'], uid: 'uid-7' }
  return {
    ca,
    server: createCertificate(
      { subject: { commonName: 'server' }, usages: ['server'], hosts, ...validity },
      random,
      ca,
    ),
    client: createCertificate({ subject: admin, usages: ['client'], ...validity }, random, ca),
    untrusted: createCertificate({ subject: admin, usages: ['client'], ...validity }, random, other),
  }
}
