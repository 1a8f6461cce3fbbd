/** An extension API server in a process of its own: the same object at every path. Prints `PORT CA` when it is ready. */
import { createRealEnv } from '@coxswain/kit'
import { createCertificate, serve } from '@coxswain/wire/node'

const env = createRealEnv()
const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
const pair = createCertificate(
  { subject: { commonName: 'bench' }, usages: ['server'], hosts: ['bench.default.svc'], ...times },
  env.random,
)
const body = new TextEncoder().encode(process.argv[2] ?? '{}')
const headers = { 'content-type': 'application/json' }
const server = await serve({
  handler: async () => ({ status: 200, headers, body }),
  tls: { cert: pair.certificate, key: pair.key },
})
process.stdout.write(`${server.port} ${Buffer.from(pair.certificate).toString('base64')}\n`)
