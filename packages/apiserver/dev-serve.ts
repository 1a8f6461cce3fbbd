import { writeFileSync } from 'node:fs'
import { createRealEnv, TaskGroup } from '@coxswain/kit'
import { createPinoLogger } from '@coxswain/kit/node'
import { createMemoryStore } from '@coxswain/storage'
import { createCertificate, serve } from '@coxswain/wire/node'
import { createApiServer } from './src/server.ts'

const env = createRealEnv(createPinoLogger({ level: 'warn' }))
const t = { notBefore: Date.now() - 3600e3, notAfter: Date.now() + 1e10 }
const ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], ...t }, env.random)
const srv = createCertificate(
  { subject: { commonName: 's' }, usages: ['server'], hosts: ['127.0.0.1', 'localhost'], ...t },
  env.random,
  ca,
)
const adm = createCertificate(
  { subject: { commonName: 'admin', organizations: ['system:masters'] }, usages: ['client'], ...t },
  env.random,
  ca,
)
const store = createMemoryStore({ env })
const server = createApiServer({ env, store })
const g = new TaskGroup()
g.spawn(s => server.run(s))
await server.ready
const http = await serve({
  handler: server.handler,
  port: Number(process.argv[2] ?? 0),
  tls: { cert: srv.certificate, key: srv.key, clientCa: ca.certificate },
  log: env.log,
})
const b = (s: string) => Buffer.from(s).toString('base64')
writeFileSync(
  '/tmp/g/kubeconfig',
  `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "${http.url}", certificate-authority-data: ${b(ca.certificate)}}}]
users: [{name: u, user: {client-certificate-data: ${b(adm.certificate)}, client-key-data: ${b(adm.key)}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
)
console.log('ready', http.url)
await g.join()
