import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { StrategyContext } from '../strategy.ts'
import { certificateSigningRequestStrategy as strategy } from './certificate-signing-request.ts'
import type { VerifySignature } from './signature.ts'
import { describeCertificateProblem, readCertificateRequest } from './x509.ts'

/** CN=golden-user, O=golden, signed with a P-256 key. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHiMIGJAgEAMCcxDzANBgNVBAoMBmdvbGRlbjEUMBIGA1UEAwwLZ29sZGVuLXVz
ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS0vRMCFEO3LLXUXBulIYGsqOd7
joymD9hogkHg9MPG66F6+D5EvOLXBq3Ra1I+zlh2kei/jGRC8Q8NjTtOstwJoAAw
CgYIKoZIzj0EAwIDSAAwRQIhAMCKLXMqzUFjuKdFOFt5rP92alaXvx3Hd9VVdBHk
tXeQAiAfL+R9/E2Pw4Sn7XFABDuOB//DP539HnXNSZu746LFAg==
-----END CERTIFICATE REQUEST-----
`
const request = btoa(pem)

const object = (status: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'a' },
  spec: { request, signerName: 'example.com/signer', usages: ['client auth'], ...spec },
  status,
})
/** A request without a subject, signed with a fresh key. */
function createRsaRequest(): Uint8Array {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const element = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts)
    return Buffer.concat([Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff]), content])
  }
  const info = element(0x30, Buffer.from([2, 1, 0, 0x30, 0]), key, Buffer.from([0xa0, 0]))
  const algorithm = Buffer.from('300d06092a864886f70d01010b0500', 'hex')
  const signature = element(3, Buffer.from([0]), sign('sha256', info, privateKey))
  return new Uint8Array(element(0x30, info, algorithm, signature))
}

const verifySignature: VerifySignature = ({ hash, message, signature, publicKey }) => {
  const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
  return verify(hash ?? null, message, key, signature)
}
const context = { clock: { now: () => 1_700_000_000_000 }, verifySignature } as unknown as StrategyContext

const findProblems = (spec: JsonObject, given = context): string[] =>
  Array.from(
    strategy.validate!(object({}, spec), given, undefined),
    ({ field, body }) => `${field}: ${body.replace(/^Invalid value: \S+: /, '')}`,
  )
const approved = { type: 'Approved', status: 'True' }
const denied = { type: 'Denied', status: 'True' }

describe('readCertificateRequest', () => {
  it('reads the subject', () => {
    const parsed = readCertificateRequest(request)
    assert.ok(typeof parsed !== 'string')
    assert.equal(parsed.commonName, 'golden-user')
    assert.deepEqual(parsed.organizations, ['golden'])
  })

  it('says what is wrong instead of throwing', () => {
    const wrongType = 'PEM block type must be CERTIFICATE REQUEST'
    assert.equal(readCertificateRequest(''), wrongType)
    assert.equal(readCertificateRequest('%%%'), wrongType)
    assert.equal(
      readCertificateRequest(btoa(pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'))),
      wrongType,
    )
    const cut = '-----BEGIN CERTIFICATE REQUEST-----\nMIHi\n-----END CERTIFICATE REQUEST-----\n'
    assert.match(String(readCertificateRequest(btoa(cut))), /malformed/)
  })
})

describe('the signature of a request', () => {
  const der = (): Uint8Array =>
    Uint8Array.from(atob(pem.replace(/-----.*-----|\s/g, '')), c => c.charCodeAt(0))
  const asRequest = (bytes: Uint8Array): string =>
    btoa(
      `-----BEGIN CERTIFICATE REQUEST-----\n${btoa(String.fromCharCode(...bytes))}\n-----END CERTIFICATE REQUEST-----\n`,
    )

  it('is over every byte of it', () => {
    const bytes = der()
    bytes[20]! ^= 1 // in the subject
    assert.deepEqual(findProblems({}), [])
    assert.deepEqual(findProblems({ request: asRequest(bytes) }), [
      'spec.request: x509: ECDSA verification failure',
    ])
  })

  it('counts for RSA keys too', () => {
    const csr = createRsaRequest()
    assert.deepEqual(findProblems({ request: asRequest(csr) }), [])
    csr[csr.length - 1]! ^= 1
    assert.deepEqual(findProblems({ request: asRequest(csr) }), [
      'spec.request: crypto/rsa: verification error',
    ])
  })

  it('is of the kind that the algorithm says', () => {
    const bytes = der()
    // ecdsa-with-SHA256 becomes Ed25519, of the same length with a NULL and some padding.
    const at = Buffer.from(bytes).indexOf(Buffer.from('300a06082a8648ce3d040302', 'hex'))
    bytes.set(Buffer.from('300a06032b65700403000000', 'hex'), at)
    assert.deepEqual(findProblems({ request: asRequest(bytes) }), [
      'spec.request: x509: signature algorithm specifies an Ed25519 public key, but have public key of type *ecdsa.PublicKey',
    ])
  })

  it('is not taken on trust where it cannot be verified', () => {
    const unverifiable = 'spec.request: x509: cannot verify signature: algorithm unimplemented'
    assert.deepEqual(findProblems({}, { ...context, verifySignature: undefined }), [unverifiable])
    const bytes = der()
    const at = Buffer.from(bytes).indexOf(Buffer.from('2a8648ce3d040302', 'hex'))
    bytes[at + 7] = 0x09
    assert.deepEqual(findProblems({ request: asRequest(bytes) }), [unverifiable])
  })
})

describe('describeCertificateProblem', () => {
  it('wants certificates and nothing else', () => {
    assert.equal(describeCertificateProblem(''), undefined)
    assert.equal(describeCertificateProblem(btoa('x')), 'must contain at least one CERTIFICATE PEM block')
    assert.equal(
      describeCertificateProblem(request),
      'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    )
  })
})

describe('certificate signing requests', () => {
  it('are of their author, whatever they say', () => {
    const created = object({}, { username: 'alice', groups: ['system:masters'] })
    strategy.prepareForCreate?.(created, {
      ...context,
      user: { name: 'jane', groups: ['devs'] },
    } as StrategyContext)
    const { username, groups } = created.spec as { username: string; groups: string[] }
    assert.deepEqual({ username, groups }, { username: 'jane', groups: ['devs'] })
  })

  it('name a signer with a domain and last ten minutes at least', () => {
    assert.deepEqual(findProblems({ signerName: 'x', expirationSeconds: 599 }), [
      `spec.signerName: must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      'spec.expirationSeconds: may not specify a duration less than 600 seconds (10 minutes)',
    ])
  })

  it('are approved through one endpoint alone, and for good', () => {
    const approval = strategy.subresources?.approval
    const old = object()
    const wanted = object({ conditions: [{ ...approved }] })
    const bodies = (errors: Iterable<{ body: string }> = []) => Array.from(errors, error => error.body)
    approval?.prepareForUpdate(wanted, old, context)
    assert.deepEqual(bodies(approval?.validateUpdate(wanted, old, context)), [])
    assert.deepEqual((wanted.status as JsonObject).conditions, [
      { ...approved, lastUpdateTime: '2023-11-14T22:13:20Z', lastTransitionTime: '2023-11-14T22:13:20Z' },
    ])
    assert.deepEqual(bodies(strategy.validateStatusUpdate?.(wanted, old, context)), [
      'Forbidden: updates may not add a condition of type "Approved"',
    ])
    assert.deepEqual(bodies(approval?.validateUpdate(old, wanted, context)), [
      'Forbidden: updates may not remove a condition of type "Approved"',
    ])
    const both = object({ conditions: [approved, denied] })
    assert.deepEqual(bodies(approval?.validateUpdate(both, old, context)), [
      'Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ])
  })
})
