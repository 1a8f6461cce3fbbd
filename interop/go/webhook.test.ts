import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom } from '@coxswain/kit'
import { readBody } from '@coxswain/wire'
import { createCertificate, createHttpTransport, type HttpTransport } from '@coxswain/wire/node'
import { goEnvironment } from '../../tools/components/go-program.ts'
import { cacheFolder } from '../../tools/components/index.ts'
import { runOrFail } from '../../tools/components/process.ts'
import { readKubeconfig } from '../support/kubeconfig.ts'
import { startTarget, type Target } from '../support/target.ts'

const program = join(cacheFolder, 'bin', 'interop-go-webhook')
mkdirSync(join(cacheFolder, 'bin'), { recursive: true })
await runOrFail('go', ['build', '-o', program, './webhook'], {
  cwd: import.meta.dirname,
  env: goEnvironment(),
})

describe("controller-runtime's webhook server", () => {
  let target: Target
  let transport: HttpTransport
  let hooks: ChildProcess
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-webhook-'))
  const namespace = 'go-webhook'
  const configmaps = `/api/v1/namespaces/${namespace}/configmaps`

  async function send(method: string, path: string, body?: unknown) {
    const answer = await transport.send({
      method,
      path,
      query: '',
      headers: { 'content-type': 'application/json' },
      signal: new AbortController().signal,
      ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
    })
    const bytes = await readBody(answer.body)
    return {
      status: answer.status,
      warning: answer.headers.warning,
      body: JSON.parse(new TextDecoder().decode(bytes)),
    }
  }

  before(async () => {
    target = await startTarget()
    const { url, ca, cert, key } = readKubeconfig(target.kubeconfig)
    transport = createHttpTransport({ server: url, tls: { ca, cert, key } })
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 }
    const random = createSeededRandom(11)
    const authority = createCertificate(
      { subject: { commonName: 'ca' }, usages: ['ca'], ...validity },
      random,
    )
    const server = createCertificate(
      { subject: { commonName: 'hooks' }, usages: ['server'], hosts: ['127.0.0.1'], ...validity },
      random,
      authority,
    )
    writeFileSync(join(folder, 'tls.crt'), server.certificate)
    writeFileSync(join(folder, 'tls.key'), server.key)
    const ready = join(folder, 'port')
    hooks = spawn(program, ['-certificates', folder, '-ready', ready], { stdio: 'inherit' })
    while (!existsSync(ready) || readFileSync(ready, 'utf8') === '') {
      assert.equal(hooks.exitCode, null, 'the webhook server has stopped')
      await sleep(20)
    }
    const base = `https://127.0.0.1:${readFileSync(ready, 'utf8')}`
    const caBundle = Buffer.from(authority.certificate).toString('base64')
    await send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    for (const [kind, operations] of [
      ['mutat', ['CREATE', 'UPDATE']],
      ['validat', ['CREATE', 'UPDATE', 'DELETE']],
    ] as const) {
      const path = `/apis/admissionregistration.k8s.io/v1/${kind}ingwebhookconfigurations`
      const made = await send('POST', path, {
        metadata: { name: 'go-webhook' },
        webhooks: [
          {
            name: 'go.example.com',
            clientConfig: { url: `${base}/${kind}e`, caBundle },
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
            rules: [{ operations, apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          },
        ],
      })
      assert.equal(made.status, 201, JSON.stringify(made.body))
    }
  })

  after(async () => {
    hooks.kill('SIGTERM')
    if (hooks.exitCode === null) await once(hooks, 'exit')
    await transport[Symbol.asyncDispose]()
    await target[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  it('changes objects and warns', async () => {
    const made = await send('POST', configmaps, { metadata: { name: 'a' }, data: { k: 'v' } })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.ok(made.body.metadata.labels['mutated-by'])
    assert.equal(made.warning, '299 - "labelled"')
  })

  it('refuses objects and deletions', async () => {
    const refused = await send('POST', configmaps, { metadata: { name: 'b' }, data: { mood: 'bad' } })
    assert.equal(refused.status, 403)
    assert.equal(
      refused.body.message,
      'admission webhook "go.example.com" denied the request: the mood is bad',
    )
    await send('POST', configmaps, { metadata: { name: 'c' }, data: { keep: 'yes' } })
    const kept = await send('DELETE', `${configmaps}/c`)
    assert.equal(kept.status, 403)
    assert.match(kept.body.message, /denied the request: it is kept$/)
    assert.equal((await send('DELETE', `${configmaps}/a`)).status, 200)
  })
})
