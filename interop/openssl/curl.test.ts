/** What curl sees of our server, over both protocols. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { createSeededRandom } from '@coxswain/kit'
import { createCertificate, type HttpServer, serve } from '@coxswain/wire/node'

const folder = mkdtempSync(join(tmpdir(), 'coxswain-curl-'))
const file = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const pieces = Array.from({ length: 5000 }, (_, i) => Buffer.from(`{"i":${i},"x":"${'x'.repeat(500)}"},`))

let server: HttpServer
let credentials: string[]
before(async () => {
  const random = createSeededRandom(1)
  const validity = { notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 86_400_000 }
  const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], ...validity }, random)
  const hosts = ['127.0.0.1']
  const pair = createCertificate(
    { subject: { commonName: 's' }, usages: ['server'], hosts, ...validity },
    random,
    ca,
  )
  const subject = { commonName: 'jane', organizations: ['dev'] }
  const client = createCertificate({ subject, usages: ['client'], ...validity }, random, ca)
  credentials = [
    ['--cacert', file('ca.crt', ca.certificate)],
    ['--cert', file('client.crt', client.certificate)],
    ['--key', file('client.key', client.key)],
  ].flat()
  server = await serve({
    tls: { cert: pair.certificate, key: pair.key, clientCa: ca.certificate },
    handler: async request => {
      if (request.path === '/list') return { status: 200, headers: {}, body: pieces }
      if (request.path === '/stream') {
        async function* body() {
          for (let i = 0; i < 3; i++) yield Buffer.from(`${i}\n`)
        }
        return { status: 200, headers: {}, body: body() }
      }
      const text = `${request.peer?.commonName} ${request.path} ${request.body?.length} ${request.bodyTooLarge}`
      return { status: request.bodyTooLarge ? 413 : 200, headers: {}, body: Buffer.from(text) }
    },
  })
})
after(async () => {
  await server.close({ grace: 0 })
  rmSync(folder, { recursive: true })
})

for (const version of ['--http2', '--http1.1']) {
  const curl = async (path: string, ...more: string[]) => {
    const format = ['-w', '\n%{http_code} %{http_version}']
    const args = ['-sS', version, '--path-as-is', ...credentials, ...format, ...more, `${server.url}${path}`]
    const { stdout } = await promisify(execFile)('curl', args, { maxBuffer: 1e8 })
    const end = stdout.lastIndexOf('\n')
    return { body: stdout.slice(0, end), result: stdout.slice(end + 1) }
  }
  const spoken = version === '--http2' ? '2' : '1.1'

  describe(`curl ${version}`, () => {
    it('proves who it is and sends the path as it is', async () => {
      const answer = await curl('/a/../%2e%2e/b')
      assert.deepEqual(answer, { body: 'jane /a/../%2e%2e/b undefined undefined', result: `200 ${spoken}` })
    })

    it('gets a long list whole, and a stream', async () => {
      assert.equal((await curl('/list')).body, Buffer.concat(pieces).toString())
      assert.equal((await curl('/stream')).body, '0\n1\n2\n')
    })

    it('may send 3 MiB, and gets 413 for more, declared or not', async () => {
      const limit = 3 * 1024 ** 2
      const post = (length: number, ...more: string[]) =>
        curl('/p', '--data-binary', `@${file('body', Buffer.alloc(length))}`, ...more)
      assert.deepEqual(await post(limit), { body: `jane /p ${limit} undefined`, result: `200 ${spoken}` })
      assert.equal((await post(limit + 1)).result, `413 ${spoken}`)
      assert.equal((await post(4 * limit, '-H', 'Transfer-Encoding: chunked')).result, `413 ${spoken}`)
    })
  })
}
