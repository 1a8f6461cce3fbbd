import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRealEnv } from '@coxswain/kit'
import { createCertificate, type KeyPair } from '@coxswain/wire/node'
import { kubernetesVersion } from '../../packages/cli/src/version.ts'

const command = fileURLToPath(new URL('../../packages/coxswain/bin/coxswain.js', import.meta.url))
const hour = 3_600_000

interface Program {
  /** Resolves when its output matches. */
  prints(pattern: RegExp): Promise<void>
  stop(): Promise<number | null>
}

/** Starts a program as envtest does: arguments and a signal, nothing else. */
function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  const closed = once(child, 'close')
  let output = ''
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
      for (const look of waiting) look()
    })
  closed.then(() => end())
  return {
    prints: pattern =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(output) && resolve()
        waiting.add(look)
        look()
        ended.then(() => reject(new Error(`it ended without ${pattern}\n${output}`)))
      }),
    async stop() {
      child.kill('SIGTERM')
      return (await closed)[0]
    },
  }
}

describe('the stand-ins that coxswain assets writes', () => {
  let folder: string
  let assets: string
  let certs: string
  let ca: KeyPair
  let admin: KeyPair
  const etcdPort = 20_000 + (process.pid % 20_000)
  const port = etcdPort + 1

  const etcd = (): Program =>
    run(join(assets, 'etcd'), [
      `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
      '--listen-peer-urls=http://localhost:0',
      '--unsafe-no-fsync=true',
    ])

  /** The flags of envtest. */
  const flags = (...more: string[]): string[] => [
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${certs}`,
    `--client-ca-file=${join(certs, 'client-cert-auth-ca.crt')}`,
    '--disable-admission-plugins=ServiceAccount',
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    '--service-cluster-ip-range=10.0.0.0/24',
    ...more,
  ]
  const apiserver = (...more: string[]): Program => run(join(assets, 'kube-apiserver'), flags(...more))

  /** Asks with envtest's client certificate, and trusts only the certificate in --cert-dir. */
  const ask = (path: string): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const { certificate: cert, key } = admin
      get(`https://127.0.0.1:${port}${path}`, { ca: ca.certificate, cert, key }, response => {
        let body = ''
        response.on('data', chunk => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode!, body }))
      }).on('error', reject)
    })

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'coxswain-envtest-'))
    assets = execFileSync(process.execPath, [command, 'assets', join(folder, 'assets')], {
      encoding: 'utf8',
    }).trim()
    certs = join(folder, 'certs')
    mkdirSync(certs)
    const { clock, random } = createRealEnv()
    const validity = { notBefore: clock.now() - hour, notAfter: clock.now() + hour }
    ca = createCertificate({ subject: { commonName: 'envtest' }, usages: ['ca'], ...validity }, random)
    const hosts = ['127.0.0.1', 'localhost']
    const serving = createCertificate(
      { subject: { commonName: 'localhost' }, usages: ['server'], hosts, ...validity },
      random,
      ca,
    )
    const subject = { commonName: 'admin', organizations: ['system:masters'] }
    admin = createCertificate({ subject, usages: ['client'], ...validity }, random, ca)
    writeFileSync(join(certs, 'client-cert-auth-ca.crt'), ca.certificate)
    writeFileSync(join(certs, 'apiserver.crt'), serving.certificate)
    writeFileSync(join(certs, 'apiserver.key'), serving.key)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('tell envtest their flags, and leave programs of others alone', () => {
    const help = (name: string) => execFileSync(join(assets, name), ['--help'], { encoding: 'utf8' })
    assert.match(help('etcd'), /^\s*--unsafe-no-fsync\b/m)
    assert.match(help('kube-apiserver'), /^\s*--service-account-issuer\b/m)
    assert.doesNotMatch(help('kube-apiserver'), /^\s*--insecure-port\b/m)
    const other = join(folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'kubectl'), 'a real one')
    const again = (target: string) =>
      execFileSync(process.execPath, [command, 'assets', target], { stdio: 'pipe' })
    assert.throws(() => again(other), /kubectl exists and is not a stand-in: choose another folder/)
    assert.equal(readFileSync(join(other, 'kubectl'), 'utf8'), 'a real one')
    again(assets)
  })

  it('serve with the certificates of the flags, keep objects as long as etcd runs, and stop cleanly', async () => {
    const before = statSync(join(certs, 'apiserver.crt')).mtimeMs
    const store = etcd()
    try {
      const first = apiserver('-v=1')
      await first.prints(/these flags have no effect on this server: --v\n/)
      await first.prints(/ready at/)
      assert.deepEqual(await ask('/healthz'), { status: 200, body: 'ok' })
      assert.equal(JSON.parse((await ask('/version')).body).gitVersion, `v${kubernetesVersion}`)
      const uid = async () => JSON.parse((await ask('/api/v1/namespaces/default')).body).metadata.uid
      const known = await uid()
      assert.equal(await first.stop(), 0)
      const second = apiserver()
      await second.prints(/ready at/)
      assert.equal(await uid(), known)
      assert.equal(JSON.parse((await ask('/api/v1/nodes')).body).items.length, 0)
      assert.equal(await second.stop(), 0)
      assert.equal(statSync(join(certs, 'apiserver.crt')).mtimeMs, before)
    } finally {
      assert.equal(await store.stop(), 0)
    }
  })

  it('run the control loops as well with one switch', async () => {
    const store = etcd()
    try {
      const server = run(join(assets, 'kube-apiserver'), flags(), { COXSWAIN_CONTROL_LOOPS: 'true' })
      await server.prints(/ready at/)
      const names = async (path: string) =>
        JSON.parse((await ask(path)).body).items.map(
          ({ metadata }: { metadata: { name: string } }) => metadata.name,
        )
      assert.deepEqual(await names('/api/v1/namespaces/default/serviceaccounts'), ['default'])
      assert.equal((await names('/api/v1/nodes')).length, 1)
      assert.equal(await server.stop(), 0)
    } finally {
      assert.equal(await store.stop(), 0)
    }
  })

  it('are where setup-envtest puts the real ones', () => {
    const use = (...args: string[]) =>
      execFileSync(
        join(assets, 'setup-envtest'),
        ['use', ...args, '--bin-dir', join(folder, 'bin'), '-p', 'path'],
        {
          encoding: 'utf8',
          stdio: 'pipe',
        },
      )
    const path = use('1.36.x')
    assert.match(path, /\/bin\/k8s\/1\.36\.\d+-[a-z]+-[a-z0-9]+$/)
    assert.equal(use(), path)
    assert.ok(statSync(join(path, 'kube-apiserver')).mode & 0o100)
    assert.throws(() => use('1.28.0'), /version 1\.28\.0 is not served/)
  })
})
