import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { get } from 'node:https'
import { describe, it } from 'node:test'
import type { SecureVersion } from 'node:tls'
import { createTestCertificates } from '../test-support/certificates.ts'
import { decodePem, encodePem } from '../x509/pem.ts'
import { serve } from './serve.ts'

const { server: pair, ca, client } = createTestCertificates()

/** The client's certificate with another signature. */
function forge(): string {
  const bytes = Uint8Array.from(decodePem('CERTIFICATE', client.certificate)[0]!)
  bytes[bytes.length - 3]! ^= 0x55
  return encodePem('CERTIFICATE', bytes)
}

describe('a client certificate with a wrong signature', () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const satisfies SecureVersion[]) {
    const tls = {
      cert: forge(),
      key: client.key,
      ca: ca.certificate,
      minVersion: version,
      maxVersion: version,
    }

    it(`is rejected by the handler, not by TLS (${version})`, async () => {
      await using server = await serve({
        handler: async ({ peer, peerError }) => ({
          status: peer ? 200 : 401,
          headers: {},
          body: Buffer.from(String(peerError)),
        }),
        tls: { cert: pair.certificate, key: pair.key, clientCa: ca.certificate },
      })
      const [answer] = await once(get(server.url, { ...tls, agent: false }), 'response')
      assert.equal(answer.statusCode, 401)
      assert.equal(String(Buffer.concat(await answer.toArray())), 'CERT_SIGNATURE_FAILURE')

      const session = connectHttp2(server.url, tls)
      const stream = session.request({ ':path': '/' })
      const [headers] = await once(stream, 'response')
      assert.equal(headers[':status'], 401)
      session.destroy()
    })
  }
})
