import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { isTransportError } from '../../errors.ts'
import { createCertificate, signCertificate } from './certificate.ts'
import { decodePem, encodePem } from './pem.ts'
import { readCertificate, readPeerCertificate } from './read.ts'
import { readCertificateRequest } from './request.ts'

/** An ECDSA request for bob in g1 and g2, with one alternative name of each kind. */
const bobsRequest = `-----BEGIN CERTIFICATE REQUEST-----
MIIBMDCB1gIBADAoMQswCQYDVQQKDAJnMTELMAkGA1UECgwCZzIxDDAKBgNVBAMM
A2JvYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABH2lgl6OTV7rTAv5i2Rp3JZq
ddrR0E+jQIm8sl1owweM3KSSYerRCEJFDzQkyyQ7drXfz9WeUIUPItIzEVihv2mg
TDBKBgkqhkiG9w0BCQ4xPTA7MDkGA1UdEQQyMDCCA2EuYocEAQIDBIcQAAAAAAAA
AAAAAAAAAAAAAYEFeEB5LnqGCnNwaWZmZTovL3gwCgYIKoZIzj0EAwIDSQAwRgIh
AOccFAzCFsH8Gx6ELRBwp4YoVI0gz6D88dewJBkBRRMRAiEAgNNGvRM8eu+Jdiu5
tGNdMFmkQ0t6joAY229FiAdsEs0=
-----END CERTIFICATE REQUEST-----
`

const random = createSeededRandom(1)
const day = 86_400_000
const notBefore = Math.floor(Date.now() / 1000) * 1000 - day
const notAfter = notBefore + 40 * 365 * day
const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], notBefore, notAfter }, random)
const hosts = ['kubernetes.default.svc', 'localhost', '10.96.0.1', '::1', 'fe80::1:2']

describe('certificates', () => {
  it('are issued and signed by their CA, which is self-signed', () => {
    const issuer = new X509Certificate(ca.certificate)
    assert.ok(issuer.ca && issuer.checkIssued(issuer) && issuer.verify(issuer.publicKey))
    const { certificate } = createCertificate(
      { subject: { commonName: 'x' }, usages: ['server'], hosts, notBefore, notAfter },
      random,
      ca,
    )
    const leaf = new X509Certificate(certificate)
    assert.ok(!leaf.ca && leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey))
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    assert.ok(leaf.checkHost('localhost') && leaf.checkIP('fe80::1:2') && !leaf.checkHost('example.com'))
  })

  it('have the given subject, validity and names', () => {
    const subject = { commonName: 'jané', organizations: ['system:masters', 'b', 'a'], uid: '1-2-3' }
    const { certificate } = createCertificate(
      { subject, usages: ['server'], hosts, notBefore, notAfter },
      random,
      ca,
    )
    assert.deepEqual(readCertificate(certificate), { ...subject, notBefore, notAfter, isCa: false, hosts })
    assert.equal(readCertificate(ca.certificate).isCa, true)
    const [der] = decodePem('CERTIFICATE', certificate)
    assert.deepEqual(readPeerCertificate(der!), { ...subject, notAfter })
  })

  it('serial numbers come from the random source and are positive', () => {
    const template = { subject: { commonName: 'x' }, usages: ['ca'] as const, notBefore, notAfter }
    const serial = (seed: number) =>
      new X509Certificate(createCertificate(template, createSeededRandom(seed)).certificate).serialNumber
    assert.equal(serial(5), serial(5))
    assert.notEqual(serial(5), serial(6))
    assert.match(serial(5), /^[4-7][0-9A-F]{31}$/)
  })
})

describe('certificate requests', () => {
  it('are parsed with their names, and certificates issued from them have their key', () => {
    const parsed = readCertificateRequest(bobsRequest)
    assert.deepEqual(parsed.subject, { commonName: 'bob', organizations: ['g1', 'g2'] })
    assert.deepEqual(
      [parsed.dnsNames, parsed.ipAddresses, parsed.emailAddresses, parsed.uris],
      [['a.b'], ['1.2.3.4', '::1'], ['x@y.z'], ['spiffe://x']],
    )
    const certificate = signCertificate(
      { subject: parsed.subject, usages: ['client'], notBefore, notAfter },
      parsed.publicKey,
      random,
      ca,
    )
    const signed = new X509Certificate(certificate)
    assert.ok(signed.verify(new X509Certificate(ca.certificate).publicKey))
    assert.deepEqual(signed.publicKey.export({ type: 'spki', format: 'der' }), Buffer.from(parsed.publicKey))
  })

  it('are rejected when the signature is not by their own key, or they are malformed', () => {
    const [der] = decodePem('CERTIFICATE REQUEST', bobsRequest)
    const changed = Buffer.from(der!)
    changed[changed.indexOf('bob')]! ^= 1
    const bad = (text: string) =>
      assert.throws(
        () => readCertificateRequest(text),
        error => isTransportError(error, 'BadCertificate'),
      )
    bad(encodePem('CERTIFICATE REQUEST', changed))
    bad(encodePem('CERTIFICATE REQUEST', der!.subarray(0, 40)))
    bad('nothing')
    bad(encodePem('CERTIFICATE REQUEST', Buffer.alloc(100, 0x30)))
  })

  it('malformed input makes the parsers throw only BadCertificate', () => {
    const [der] = decodePem('CERTIFICATE', ca.certificate)
    const noise = createSeededRandom(7)
    for (let i = 0; i < 2000; i++) {
      const mutated = Buffer.from(der!)
      for (let n = noise.below(4) + 1; n > 0; n--) mutated[noise.below(mutated.length)] = noise.below(256)
      for (const read of [
        readPeerCertificate,
        (bytes: Uint8Array) => readCertificate(encodePem('CERTIFICATE', bytes)),
      ]) {
        try {
          read(mutated)
        } catch (error) {
          assert.ok(isTransportError(error, 'BadCertificate'), String(error))
        }
      }
    }
  })
})
