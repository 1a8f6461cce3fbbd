/** What openssl makes of our certificates, and we of its requests. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createSeededRandom } from '@coxswain/kit'
import { createCertificate, readCertificateRequest, signCertificate } from '@coxswain/wire/node'

const folder = mkdtempSync(join(tmpdir(), 'coxswain-x509-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' })

const random = createSeededRandom(1)
const day = 86_400_000
const notBefore = Math.floor(Date.now() / 1000) * 1000 - day
const notAfter = notBefore + 40 * 365 * day
const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], notBefore, notAfter }, random)
const hosts = ['kubernetes.default.svc', 'localhost', '10.96.0.1', '::1', 'fe80::1:2']

describe('certificates', () => {
  it('say whether their key may encrypt others', () => {
    const usageOf = (enciphersKeys: boolean) => {
      const template = { subject: { commonName: 'x' }, usages: ['client'] as const, notBefore, notAfter }
      const { certificate } = createCertificate({ ...template, enciphersKeys }, random, ca)
      return openssl('x509', '-in', file('usage.pem', certificate), '-noout', '-ext', 'keyUsage')
    }
    assert.match(usageOf(true), /critical\n\s+Digital Signature, Key Encipherment\n/)
    assert.match(usageOf(false), /critical\n\s+Digital Signature\n/)
  })

  it('openssl verifies them strictly, each for its own purpose only', () => {
    const caFile = file('ca.pem', ca.certificate)
    const verify = (purpose: string, path: string) =>
      openssl('verify', '-x509_strict', '-CAfile', caFile, '-purpose', purpose, path)
    const template = { notBefore, notAfter: notBefore + 365 * day }
    const make = (usages: ('server' | 'client')[]) =>
      createCertificate({ subject: { commonName: 'x' }, usages, hosts, ...template }, random, ca).certificate
    const server = file('server.pem', make(['server']))
    const client = file('client.pem', make(['client']))
    const both = file('both.pem', make(['server', 'client']))
    assert.match(verify('sslserver', server), /OK/)
    assert.match(verify('sslclient', client), /OK/)
    assert.match(verify('sslserver', both), /OK/)
    assert.match(verify('sslclient', both), /OK/)
    assert.throws(() => verify('sslclient', server))
    assert.throws(() => verify('sslserver', client))
  })

  it('a leaf cannot sign others', () => {
    const leaf = createCertificate(
      { subject: { commonName: 'leaf' }, usages: ['client'], notBefore, notAfter },
      random,
      ca,
    )
    const forged = createCertificate(
      {
        subject: { commonName: 'forged', organizations: ['system:masters'] },
        usages: ['client'],
        notBefore,
        notAfter,
      },
      random,
      leaf,
    )
    const forgedFile = file('forged.pem', forged.certificate)
    const chain = [
      '-CAfile',
      file('ca2.pem', ca.certificate),
      '-untrusted',
      file('leaf.pem', leaf.certificate),
    ]
    assert.throws(() => openssl('verify', '-x509_strict', ...chain, forgedFile))
  })

  it('serial numbers come from the random source and are positive', () => {
    const serial = (seed: number) => {
      const made = createCertificate(
        { subject: { commonName: 'x' }, usages: ['ca'], notBefore, notAfter },
        createSeededRandom(seed),
      )
      return openssl('x509', '-noout', '-serial', '-in', file(`serial-${seed}.pem`, made.certificate))
    }
    assert.equal(serial(5), serial(5))
    assert.notEqual(serial(5), serial(6))
    assert.match(serial(5), /^serial=[4-7][0-9A-F]{31}\s*$/)
  })

  it('are signed with an RSA CA too', () => {
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      join(folder, 'rsa.key'),
      '-out',
      join(folder, 'rsa.pem'),
      '-subj',
      '/O=x/CN=rsa-ca',
      '-days',
      '2',
    )
    const rsa = {
      certificate: execFileSync('cat', [join(folder, 'rsa.pem')], { encoding: 'utf8' }),
      key: execFileSync('cat', [join(folder, 'rsa.key')], { encoding: 'utf8' }),
    }
    const { certificate } = createCertificate(
      { subject: { commonName: 'x' }, usages: ['client'], notBefore, notAfter: notBefore + 2 * day },
      random,
      rsa,
    )
    assert.match(
      openssl('verify', '-CAfile', join(folder, 'rsa.pem'), file('under-rsa.pem', certificate)),
      /OK/,
    )
  })
})

describe('certificate requests', () => {
  const key = file(
    'req.key',
    createCertificate({ subject: { commonName: 'x' }, usages: ['client'], notBefore, notAfter }, random).key,
  )
  const request = (...args: string[]) => openssl('req', '-new', '-key', key, ...args)

  it('are read with their names, and what is signed from them verifies', () => {
    const parsed = readCertificateRequest(
      request(
        '-subj',
        '/O=g1/O=g2/CN=bob',
        '-addext',
        'subjectAltName=DNS:a.b,IP:1.2.3.4,IP:::1,email:x@y.z,URI:spiffe://x',
      ),
    )
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
    assert.match(
      openssl(
        'verify',
        '-x509_strict',
        '-CAfile',
        file('ca3.pem', ca.certificate),
        file('bob.pem', certificate),
      ),
      /OK/,
    )
    const publicKey = (kind: string, path: string) => openssl(kind, '-in', path, '-noout', '-pubkey')
    assert.equal(publicKey('x509', join(folder, 'bob.pem')), openssl('pkey', '-in', key, '-pubout'))
  })
})
