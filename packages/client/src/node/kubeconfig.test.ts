import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { createRealEnv, createSeededRandom } from '@coxswain/kit'
import type { Handler, WireRequest } from '@coxswain/wire'
import { createCertificate, type HttpServer, type KeyPair, serve } from '@coxswain/wire/node'
import { isClientError } from '../errors.ts'
import { kindFor } from '../kind-for.ts'
import { createClientFromKubeconfig } from './client-from-kubeconfig.ts'
import { accessFromPod } from './in-cluster.ts'
import { type Kubeconfig, type KubeconfigUser, selectContext } from './kubeconfig.ts'
import { createKubeconfig, loadKubeconfig, parseKubeconfig, writeKubeconfig } from './kubeconfig-files.ts'
import { proxyFromEnvironment } from './proxy-environment.ts'

const Namespace = kindFor({ version: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false })

let folder: string
let server: HttpServer
let ca: KeyPair
let admin: KeyPair
let seen: WireRequest[] = []
let handler: Handler
const answer = { status: 200, headers: {}, body: Buffer.from('{"metadata":{"name":"x"}}') }

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-kubeconfig-'))
  const random = createSeededRandom(3)
  const validity = { notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 86_400_000 }
  ca = createCertificate({ subject: { commonName: 'ca' }, usages: ['ca'], ...validity }, random)
  const hosts = ['127.0.0.1', 'kubernetes']
  const pair = createCertificate(
    { subject: { commonName: 's' }, usages: ['server'], hosts, ...validity },
    random,
    ca,
  )
  const subject = { commonName: 'admin', organizations: ['system:masters'] }
  admin = createCertificate({ subject, usages: ['client'], ...validity }, random, ca)
  server = await serve({
    handler: request => {
      seen.push(request)
      return handler(request)
    },
    tls: { cert: pair.certificate, key: pair.key, clientCa: ca.certificate },
  })
})
after(async () => {
  await server.close({ grace: 0 })
  await rm(folder, { recursive: true })
})

async function write(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}

/** A kubeconfig for the test's server with this user. */
async function configFor(name: string, user: KubeconfigUser, cluster: object = {}): Promise<string> {
  const config: Kubeconfig = createKubeconfig({
    cluster: 'c',
    user: 'u',
    server: server.url,
    ca: ca.certificate,
  })
  Object.assign(config.clusters![0]!.cluster, cluster)
  config.users![0]!.user = user
  const path = join(folder, name)
  await writeKubeconfig(path, config)
  return path
}

/** Gets an object with the client of a kubeconfig and returns the request that the server saw. */
async function get(kubeconfig: string, environment: Record<string, string> = {}): Promise<WireRequest> {
  seen = []
  handler = async () => answer
  await using connected = await createClientFromKubeconfig({ kubeconfig, environment })
  await connected.client.get(Namespace, { name: 'x' })
  return seen.at(-1)!
}

describe('kubeconfig files', () => {
  it('are merged by kubectl`s rules: the first one wins, missing files are ignored', async () => {
    const one = await write(
      'one.yaml',
      'clusters:\n- name: a\n  cluster: {server: "https://one"}\ncontexts:\n- name: x\n  context: {cluster: a, user: u}\n',
    )
    const two = await write(
      'sub/two.yaml',
      `apiVersion: v1
kind: Config
current-context: x
clusters:
- name: a
  cluster: {server: "https://two"}
- name: b
  cluster: {server: "https://b", certificate-authority: ca.crt}
users:
- name: u
  user: {client-certificate: ../c.crt, tokenFile: /abs/token, exec: {command: ./bin/login}}
- name: v
  user: {exec: {command: login}}
`,
    )
    const { config, files } = await loadKubeconfig({
      environment: { KUBECONFIG: [one, join(folder, 'missing'), two].join(delimiter) },
    })
    assert.deepEqual(files, [one, two])
    assert.equal(config['current-context'], 'x')
    const { cluster, user } = selectContext(config)
    assert.equal(cluster.server, 'https://one')
    assert.equal(config.clusters?.[1]?.cluster['certificate-authority'], join(folder, 'sub/ca.crt'))
    assert.equal(user['client-certificate'], join(folder, 'c.crt'))
    assert.equal(user.tokenFile, '/abs/token')
    assert.equal(user.exec?.command, join(folder, 'sub/bin/login'))
    assert.equal(config.users?.[1]?.user.exec?.command, 'login')
  })

  it('are rejected with a reason', async () => {
    const bad = (text: string, expected: RegExp) =>
      assert.throws(
        () => selectContext(parseKubeconfig(text, '/k')),
        error => isClientError(error, 'BadKubeconfig') && expected.test((error as Error).message),
      )
    bad('a: [', /^\/k: /)
    bad('- a', /no kubeconfig/)
    bad('kind: Pod', /kind "Pod"/)
    bad('clusters: {}', /clusters must be a list/)
    bad('users: [{}]', /users has no name/)
    bad('', /no current-context/)
    bad('current-context: x', /context "x" does not exist/)
    bad('current-context: x\ncontexts: [{name: x, context: {cluster: z}}]', /cluster "z" does not exist/)
    await assert.rejects(loadKubeconfig({ path: join(folder, 'missing') }), error =>
      isClientError(error, 'BadKubeconfig'),
    )
    await assert.rejects(createClientFromKubeconfig({ environment: { HOME: folder } }), error =>
      isClientError(error, 'BadKubeconfig'),
    )
  })

  it('are written whole, for their owner only, and can be read back', async () => {
    const path = join(folder, 'new/config')
    const config = createKubeconfig({
      cluster: 'coxswain',
      user: 'admin',
      server: 'https://127.0.0.1:1',
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      namespace: 'dev',
    })
    await writeKubeconfig(path, config)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(readYaml(await readFile(path, 'utf8'))?.value, config)
    const entries = selectContext((await loadKubeconfig({ path })).config)
    assert.deepEqual([entries.contextName, entries.context.namespace], ['coxswain', 'dev'])
  })
})

describe('credentials of a kubeconfig', () => {
  it('client certificates, as data or files', async () => {
    const data = (text: string) => Buffer.from(text).toString('base64')
    const embedded = await configFor('data', {
      'client-certificate-data': data(admin.certificate),
      'client-key-data': data(admin.key),
    })
    assert.equal((await get(embedded)).peer?.commonName, 'admin')
    await write('c.crt', admin.certificate)
    await write('c.key', admin.key)
    const files = await configFor('files', { 'client-certificate': 'c.crt', 'client-key': 'c.key' })
    assert.equal((await get(files)).peer?.commonName, 'admin')
    const half = await configFor('half', { 'client-certificate': 'c.crt' })
    await assert.rejects(get(half), error => isClientError(error, 'BadKubeconfig'))
  })

  it('tokens, passwords and impersonation', async () => {
    assert.equal((await get(await configFor('token', { token: 't' }))).headers.authorization, 'Bearer t')
    const basic = await get(await configFor('basic', { username: 'a', password: 'b:c' }))
    assert.equal(basic.headers.authorization, `Basic ${Buffer.from('a:b:c').toString('base64')}`)
    const acting = await get(
      await configFor('as', { token: 't', as: 'jane', 'as-groups': ['g'], 'as-user-extra': { k: ['v'] } }),
    )
    assert.equal(acting.headers['impersonate-user'], 'jane')
    assert.deepEqual(acting.headers['impersonate-group'], 'g')
    assert.deepEqual(acting.headers['impersonate-extra-k'], 'v')
  })

  it('the server name and insecure-skip-tls-verify', async () => {
    await get(await configFor('name', {}, { 'tls-server-name': 'kubernetes' }))
    await assert.rejects(get(await configFor('wrong', {}, { 'tls-server-name': 'other' })))
    const insecure = { 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true }
    await get(await configFor('insecure', {}, insecure))
    await assert.rejects(get(await configFor('both', {}, { 'insecure-skip-tls-verify': true })), error =>
      isClientError(error, 'BadKubeconfig'),
    )
  })

  it('a token file that is replaced: read again when the server rejects the old token', async () => {
    const tokenFile = await write('token-file', 'old\n')
    const kubeconfig = await configFor('token-file-config', { tokenFile })
    handler = async ({ headers }) =>
      headers.authorization === 'Bearer new' ? answer : { status: 401, headers: {} }
    await using connected = await createClientFromKubeconfig({ kubeconfig, environment: {} })
    await assert.rejects(connected.client.get(Namespace, { name: 'x' }))
    await writeFile(tokenFile, 'new\n')
    assert.equal((await connected.client.get(Namespace, { name: 'x' }))?.metadata.name, 'x')
  })

  it('a plug-in runs once for many calls, again when its token has expired or is rejected', async () => {
    const counter = join(folder, 'runs')
    const plugin = await write(
      'plugin.sh',
      `#!/bin/sh
echo x >> ${counter}
n=$(wc -l < ${counter})
echo "$KUBERNETES_EXEC_INFO" > ${counter}.info
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s%s","expirationTimestamp":"2999-01-01T00:00:00Z"}}' "$PREFIX" $n
`,
      0o700,
    )
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: plugin,
      env: [{ name: 'PREFIX', value: 'tok' }],
      provideClusterInfo: true,
      interactiveMode: 'Never' as const,
    }
    const kubeconfig = await configFor('exec', { exec })
    let accepted = 'Bearer tok1'
    handler = async ({ headers }) =>
      headers.authorization === accepted ? answer : { status: 401, headers: {} }
    const environment = { PATH: process.env.PATH ?? '' }
    await using connected = await createClientFromKubeconfig({ kubeconfig, environment })
    const call = () => connected.client.get(Namespace, { name: 'x' })
    await Promise.all([call(), call(), call()])
    assert.equal((await readFile(counter, 'utf8')).length, 2)
    accepted = 'Bearer tok2'
    await call()
    assert.equal((await readFile(counter, 'utf8')).length, 4)
    const info = JSON.parse(await readFile(`${counter}.info`, 'utf8'))
    assert.deepEqual([info.spec.interactive, info.spec.cluster.server], [false, server.url])
  })

  it('a plug-in that returns a certificate', async () => {
    const credential = {
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      status: { clientCertificateData: admin.certificate, clientKeyData: admin.key },
    }
    const data = await write('credential.json', JSON.stringify(credential))
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'cat', args: [data] }
    const request = await get(await configFor('exec-cert', { exec }), { PATH: process.env.PATH ?? '' })
    assert.equal(request.peer?.commonName, 'admin')
  })

  it('a plug-in that fails is reported with its hint', async () => {
    const run = async (exec: object) => {
      const user = {
        exec: { apiVersion: 'client.authentication.k8s.io/v1', installHint: 'brew install it', ...exec },
      } as KubeconfigUser
      return get(await configFor('exec-bad', user), { PATH: process.env.PATH ?? '' })
    }
    const refused = (error: unknown) =>
      isClientError(error, 'NoCredentials') && (error as Error).message.includes('brew install it')
    await assert.rejects(run({ command: 'no-such-plugin' }), refused)
    await assert.rejects(run({ command: 'false' }), refused)
    await assert.rejects(run({ command: 'echo', args: ['{}'] }), refused)
    await assert.rejects(run({ command: 'echo', args: ['no json'] }), refused)
    await assert.rejects(
      run({ command: 'echo', apiVersion: 'client.authentication.k8s.io/v1alpha1' }),
      refused,
    )
  })

  it('OpenID Connect: an expired token is renewed and saved in the file', async () => {
    const jwt = (exp: number) => `x.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.y`
    const expired = jwt(1)
    const fresh = jwt(Date.now() / 1000 + 3600)
    const forms: string[] = []
    await using issuer = await serve({
      handler: async request => {
        const body =
          request.path === '/realm/.well-known/openid-configuration'
            ? { token_endpoint: `${issuer.url}/token` }
            : { id_token: fresh, refresh_token: 'r2' }
        if (request.body) forms.push(`${Buffer.from(request.body)} ${request.headers.authorization}`)
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) }
      },
    })
    const config = {
      'idp-issuer-url': `${issuer.url}/realm`,
      'client-id': 'id',
      'client-secret': 's',
      'id-token': expired,
      'refresh-token': 'r1',
    }
    const kubeconfig = await configFor('oidc', { 'auth-provider': { name: 'oidc', config } })
    assert.equal((await get(kubeconfig)).headers.authorization, `Bearer ${fresh}`)
    assert.deepEqual(forms, [
      `grant_type=refresh_token&refresh_token=r1 Basic ${Buffer.from('id:s').toString('base64')}`,
    ])
    const kept = (await loadKubeconfig({ path: kubeconfig })).config.users?.[0]?.user['auth-provider']?.config
    assert.deepEqual([kept?.['id-token'], kept?.['refresh-token']], [fresh, 'r2'])
    await get(kubeconfig)
    assert.equal(forms.length, 1)
  })
})

describe('the connection to the server', () => {
  it('uses the proxy of the kubeconfig rather than that of the environment', async () => {
    const asked: string[] = []
    const proxy = createServer()
    proxy.on('connect', (request, client) => {
      asked.push(request.url ?? '')
      const upstream = connect(server.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
      upstream.on('error', () => client.destroy())
      client.on('error', () => upstream.destroy())
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const path = await configFor('proxied', { token: 't' }, { 'proxy-url': url })
    await get(path, { HTTPS_PROXY: 'http://127.0.0.1:1' })
    assert.deepEqual(asked, [`127.0.0.1:${server.port}`])
    proxy.closeAllConnections()
    await new Promise(resolve => proxy.close(resolve))
  })

  it('is that of the given context', async () => {
    const path = await configFor('contexts', { token: 'first' })
    const { config } = await loadKubeconfig({ path, environment: {} })
    config.users!.push({ name: 'other', user: { token: 'second' } })
    config.contexts!.push({ name: 'other', context: { cluster: 'c', user: 'other', namespace: 'team' } })
    await writeKubeconfig(path, config)
    handler = async () => answer
    await using connected = await createClientFromKubeconfig({
      kubeconfig: path,
      context: 'other',
      environment: {},
    })
    await connected.client.get(Namespace, { name: 'x' })
    assert.equal(seen.at(-1)?.headers.authorization, 'Bearer second')
    assert.equal(connected.namespace, 'team')
  })
})

describe('a Pod`s own cluster', () => {
  it('is reached with the service account, whose token may rotate', async () => {
    await write('sa/token', 'sa-token')
    await write('sa/ca.crt', ca.certificate)
    await write('sa/namespace', 'prod\n')
    handler = async () => answer
    const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(server.port) }
    const access = await accessFromPod({ env: createRealEnv(), environment, folder: join(folder, 'sa') })
    await using transport = access.transport
    const signal = new AbortController().signal
    await transport.send({ method: 'GET', path: '/x', query: '', headers: {}, signal })
    assert.equal(seen.at(-1)?.headers.authorization, 'Bearer sa-token')
    assert.equal(access.namespace, 'prod')
    await assert.rejects(accessFromPod({ env: createRealEnv(), environment: {} }), error =>
      isClientError(error, 'BadKubeconfig'),
    )
  })
})

describe('a Pod of processes without a mount namespace', () => {
  it('has its service account in COXSWAIN_ROOT', async () => {
    const files = 'root/var/run/secrets/kubernetes.io/serviceaccount'
    await write(`${files}/token`, 'root-token')
    await write(`${files}/ca.crt`, ca.certificate)
    await write(`${files}/namespace`, 'own')
    handler = async () => answer
    const environment = {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(server.port),
      COXSWAIN_ROOT: join(folder, 'root'),
      HOME: join(folder, 'nowhere'),
    }
    await using connected = await createClientFromKubeconfig({ environment })
    await connected.client.get(Namespace, { name: 'x' })
    assert.equal(seen.at(-1)?.headers.authorization, 'Bearer root-token')
    assert.equal(connected.namespace, 'own')
  })
})

describe('proxies of the environment', () => {
  it('follow Go`s rules', () => {
    const environment = { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'a.com, .b.com,10.0.0.0/8,[::2],c.com:8443' }
    const through = (server: string) => proxyFromEnvironment(new URL(server), environment)
    assert.equal(through('https://x.org'), 'http://proxy:3128')
    assert.equal(through('http://x.org'), undefined)
    for (const exempt of [
      'https://a.com',
      'https://x.a.com',
      'https://x.b.com',
      'https://10.1.2.3:6443',
      'https://localhost',
      'https://127.0.0.1',
      'https://c.com:8443',
    ]) {
      assert.equal(through(exempt), undefined, exempt)
    }
    for (const other of ['https://b.com', 'https://xa.com', 'https://11.1.2.3', 'https://c.com:6443']) {
      assert.equal(through(other), 'http://proxy:3128', other)
    }
  })
})
