import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { connect } from 'node:tls'
import { createSeededRandom } from '@coxswain/kit'
import { createTestCertificates } from '../test-support/certificates.ts'
import { createCertificate } from '../x509/certificate.ts'
import { type ServerTls, serve } from './serve.ts'

const { server: pair, ca } = createTestCertificates()
const random = createSeededRandom(2)
const validity = { notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 86_400_000 }

function certificateOf(commonName: string): { readonly cert: string; readonly key: string } {
  const { certificate: cert, key } = createCertificate(
    { subject: { commonName }, usages: ['server'], ...validity },
    random,
    ca,
  )
  return { cert, key }
}

/** The common name of the certificate that a client is shown who asks for `name`. */
async function ask(port: number, name: string | undefined): Promise<unknown> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(name !== undefined && { servername: name }),
  })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return subject.CN
}

describe('certificates by name', () => {
  const tls: ServerTls = {
    cert: pair.certificate,
    key: pair.key,
    clientCa: ca.certificate,
    named: [
      { names: ['*.example.com', 'one.example.org'], ...certificateOf('wildcard') },
      { names: ['a.example.com', 'one.example.org'], ...certificateOf('exact') },
    ],
  }
  const handler = async () => ({ status: 200, headers: {}, body: Buffer.from('') })

  for (const [name, expected] of [
    [undefined, 'server'],
    ['other.test', 'server'],
    ['a.example.com', 'exact'],
    ['A.Example.com', 'exact'],
    ['b.example.com', 'wildcard'],
    ['a.b.example.com', 'server'],
    ['example.com', 'server'],
    ['one.example.org', 'wildcard'],
  ] as const)
    it(`shows the one of ${expected} to a client that asks for ${name ?? 'no name'}`, async () => {
      await using server = await serve({ handler, tls })
      assert.equal(await ask(server.port, name), expected)
    })

  it('change while the server runs, and stay as they were when new ones are no pair', async () => {
    await using server = await serve({ handler, tls })
    const next = certificateOf('next')
    server.setTls({ ...tls, named: [{ names: ['a.example.com'], ...next }] })
    assert.equal(await ask(server.port, 'a.example.com'), 'next')
    assert.equal(await ask(server.port, 'b.example.com'), 'server')
    const mixed = { names: ['a.example.com'], cert: next.cert, key: pair.key }
    assert.throws(() => server.setTls({ ...certificateOf('lost'), named: [mixed] }))
    assert.equal(await ask(server.port, undefined), 'server')
    assert.equal(await ask(server.port, 'a.example.com'), 'next')
  })
})
