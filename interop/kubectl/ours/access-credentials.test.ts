import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseKubeconfig } from '@coxswain/client/node'
import { createRealRandom } from '@coxswain/kit'
import type { WireRequest, WireResponse } from '@coxswain/wire'
import {
  createCertificate,
  createHttpTransport,
  type HttpServer,
  type KeyPair,
  serve,
} from '@coxswain/wire/node'
import { coxswain, execute, type RunningServer, startServer } from '../../support/coxswain.ts'
import { createKubectl, type Kubectl } from '../../support/kubectl.ts'

const random = createRealRandom()
const validity = { notBefore: Date.parse('2026-01-01'), notAfter: Date.parse('2046-01-01') }
const provider = generateKeyPairSync('rsa', { modulusLength: 2048 })

function makeCa(commonName: string): KeyPair {
  return createCertificate({ subject: { commonName }, usages: ['ca'], ...validity }, random)
}

let directory: string
let outside: HttpServer
let server: RunningServer
let kubectl: Kubectl
let proxyCa: KeyPair

const file = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

/** An OpenID provider and a token webhook in one. */
async function answer({ path, body }: WireRequest): Promise<WireResponse> {
  const json = (value: unknown): WireResponse => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(value)),
  })
  if (path === '/.well-known/openid-configuration')
    return json({ issuer: outside.url, jwks_uri: `${outside.url}/jwks` })
  if (path === '/jwks')
    return json({ keys: [{ ...provider.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' }] })
  const review = JSON.parse(new TextDecoder().decode(body))
  const known = review.spec.token === 'webhook-token'
  return json({ ...review, status: { authenticated: known, user: known ? { username: 'wendy' } : {} } })
}

function idToken(claims: Record<string, unknown>): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const all = { iss: outside.url, aud: 'fleet', exp: now + 600, iat: now, ...claims }
  const input = `${part({ alg: 'RS256', kid: 'k' })}.${part(all)}`
  return `${input}.${sign('sha256', Buffer.from(input), provider.privateKey).toString('base64url')}`
}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'access-'))
  const ca = makeCa('outside-ca')
  proxyCa = makeCa('proxy-ca')
  const { certificate: cert, key } = createCertificate(
    { subject: { commonName: 'outside' }, usages: ['server'], hosts: ['127.0.0.1'], ...validity },
    random,
    ca,
  )
  outside = await serve({ handler: answer, tls: { cert, key } })
  const webhook = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'w',
        cluster: { server: `${outside.url}/review`, 'certificate-authority': file('ca.crt', ca.certificate) },
      },
    ],
    users: [{ name: 'w', user: {} }],
    contexts: [{ name: 'w', context: { cluster: 'w', user: 'w' } }],
    'current-context': 'w',
  }
  const authentication = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: outside.url, audiences: ['fleet'], certificateAuthority: ca.certificate },
        claimMappings: {
          username: { expression: '"oidc:" + claims.sub' },
          groups: { expression: 'claims.roles' },
        },
        claimValidationRules: [{ expression: 'claims.sub != "pirate"', message: 'no pirates' }],
      },
    ],
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }] },
  }
  server = await startServer(
    '--nodes=0',
    '--controllers=certificatesigningrequest-signing-controller,serviceaccount-controller,serviceaccount-token-controller',
    '--token-auth-file',
    file('tokens.csv', 'file-token,fiona,u1,"devs,ops"\n'),
    '--authentication-token-webhook-config-file',
    file('webhook.json', JSON.stringify(webhook)),
    '--authentication-config',
    file('authentication.json', JSON.stringify(authentication)),
    '--enable-bootstrap-token-auth',
    '--requestheader-client-ca-file',
    file('proxy-ca.crt', proxyCa.certificate),
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  )
  kubectl = createKubectl('1.36', file('kubeconfig', readFileSync(server.kubeconfig, 'utf8')))
})

after(async () => {
  await server?.[Symbol.asyncDispose]()
  await outside?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

/** Standard output of a command that succeeds. */
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}\n${stderr}`)
  return stdout
}

/** Who kubectl is with credentials that were set by `config set-credentials`. */
async function whoIs(user: string, ...credentials: string[]): Promise<string> {
  await ok('config', 'set-credentials', user, ...credentials)
  const { code, stdout, stderr } = await kubectl(
    `--user=${user}`,
    'auth',
    'whoami',
    '-o',
    'jsonpath={.status.userInfo.username} {.status.userInfo.groups}',
  )
  return code === 0 ? stdout : stderr.trim()
}

describe('config set-credentials', () => {
  it('with a token of the file', async () => {
    assert.equal(await whoIs('file', '--token=file-token'), 'fiona ["devs","ops","system:authenticated"]')
  })

  it('with a token of a service account, and of a secret', async () => {
    await ok('create', 'serviceaccount', 'bot')
    const groups = '["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"]'
    const expected = `system:serviceaccount:default:bot ${groups}`
    assert.equal(await whoIs('account', `--token=${(await ok('create', 'token', 'bot')).trim()}`), expected)
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bot', annotations: { 'kubernetes.io/service-account.name': 'bot' } },
      type: 'kubernetes.io/service-account-token',
    }
    await ok('create', '-f', file('secret.json', JSON.stringify(secret)))
    await ok('wait', '--for=jsonpath={.data.token}', 'secret/bot', '--timeout=120s')
    const encoded = await ok('get', 'secret', 'bot', '-o', 'jsonpath={.data.token}')
    const token = Buffer.from(encoded, 'base64').toString()
    assert.equal(await whoIs('secret', `--token=${token}`), expected)
    await ok('delete', 'secret', 'bot')
    assert.match(await whoIs('secret', `--token=${token}`), /Unauthorized/)
  })

  it('with a bootstrap token', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-abc123', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'abc123',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    }
    await ok('create', '-f', file('bootstrap.json', JSON.stringify(secret)))
    assert.equal(
      await whoIs('bootstrap', '--token=abc123.0123456789abcdef'),
      'system:bootstrap:abc123 ["system:bootstrappers","system:authenticated"]',
    )
    assert.match(await whoIs('bootstrap', '--token=abc123.0123456789abcdee'), /Unauthorized/)
  })

  it('with a token that the webhook knows', async () => {
    assert.equal(await whoIs('webhook', '--token=webhook-token'), 'wendy ["system:authenticated"]')
    assert.match(await whoIs('webhook', '--token=webhook-unknown'), /Unauthorized/)
  })

  it('with a token of the OpenID provider', async () => {
    const good = idToken({ sub: 'olga', roles: ['devs'] })
    assert.equal(await whoIs('oidc', `--token=${good}`), 'oidc:olga ["devs","system:authenticated"]')
    for (const bad of [
      idToken({ sub: 'pirate', roles: [] }),
      idToken({ sub: 'olga', roles: [], aud: 'other' }),
      idToken({ sub: 'olga', roles: [], exp: 1000 }),
    ]) {
      assert.match(await whoIs('oidc', `--token=${bad}`), /Unauthorized/)
    }
  })

  it('with a program that prints a token', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'file-token' },
    }
    const printed = file('credential.json', JSON.stringify(credential))
    assert.match(
      await whoIs(
        'program',
        '--exec-api-version=client.authentication.k8s.io/v1',
        '--exec-command=cat',
        `--exec-arg=${printed}`,
        '--exec-interactive-mode=Never',
      ),
      /^fiona /,
    )
  })

  it('with a name and a password, which this server does not accept', async () => {
    assert.match(await whoIs('basic', '--username=a', '--password=b'), /Unauthorized/)
  })

  it('with a client certificate that coxswain kubeconfig issued', async () => {
    const output = join(directory, 'jane.kubeconfig')
    const { kubeconfig } = server
    const issued = await coxswain(
      ...['kubeconfig', '--user', 'jane', '--group', 'devs', '--group', 'ops', '--duration', '1h'],
      ...['--kubeconfig', kubeconfig, '--output', output],
    )
    assert.equal(issued.code, 0, issued.stderr)
    const jane = createKubectl('1.36', output)
    const { stdout } = await jane('auth', 'whoami', '-o', 'jsonpath={.status.userInfo}')
    assert.deepEqual(JSON.parse(stdout), {
      username: 'jane',
      groups: ['devs', 'ops', 'system:authenticated'],
    })
    const refused = await jane('get', 'secrets')
    assert.match(refused.stderr, /User "jane" cannot list resource "secrets"/)
    const { user } = parseKubeconfig(readFileSync(output, 'utf8'), output).users![0]!
    const [certificate, key] = [user['client-certificate-data']!, user['client-key-data']!].map(data =>
      Buffer.from(data, 'base64').toString(),
    )
    assert.match(
      await whoIs(
        'certificate',
        `--client-certificate=${file('jane.crt', certificate!)}`,
        `--client-key=${file('jane.key', key!)}`,
        '--embed-certs',
      ),
      /^jane /,
    )
    const text = await execute('openssl', [
      'x509',
      '-in',
      join(directory, 'jane.crt'),
      '-noout',
      '-subject',
      '-dates',
    ])
    assert.match(text.stdout, /O ?= ?devs, O ?= ?ops, CN ?= ?jane/)
    assert.equal((await ok('get', 'csr', '-o', 'name')).trim(), '', 'the request is deleted again')
  })

  it('with a certificate of another authority', async () => {
    const untrusted = createCertificate(
      {
        subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
        usages: ['client'],
        ...validity,
      },
      random,
      makeCa('coxswain-ca'),
    )
    assert.match(
      await whoIs(
        'untrusted',
        `--client-certificate=${file('s.crt', untrusted.certificate)}`,
        `--client-key=${file('s.key', untrusted.key)}`,
      ),
      /Unauthorized|provide credentials/,
    )
  })
})

describe('coxswain kubeconfig', () => {
  it('prints a kubeconfig, and its help', async () => {
    const printed = await coxswain('kubeconfig', '--user', 'ann', '--kubeconfig', server.kubeconfig)
    assert.equal(printed.code, 0, printed.stderr)
    const { users, contexts } = parseKubeconfig(printed.stdout, 'printed')
    assert.equal(users?.[0]?.name, 'ann')
    assert.equal(contexts?.[0]?.name, 'ann@coxswain')
    createPublicKey(Buffer.from(users![0]!.user['client-certificate-data']!, 'base64'))
    const help = await coxswain('kubeconfig', '--help')
    assert.equal(help.code, 0)
    assert.match(help.stdout, /--user <name>[\s\S]*--group <name\.\.\.>[\s\S]*Exit codes/)
  })

  it('makes no user a master, and says so', async () => {
    const refused = await coxswain(
      ...['kubeconfig', '--user', 'eve', '--group', 'system:masters', '--kubeconfig', server.kubeconfig],
    )
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /with system:masters group is not allowed/)
    assert.equal((await coxswain('kubeconfig')).code, 2)
  })
})

describe('front proxies', () => {
  const headers = { 'x-remote-user': 'petra', 'x-remote-group': ['devs'], 'x-remote-extra-ship': 'argo' }

  async function whoIsWith(pair: KeyPair | undefined): Promise<unknown> {
    const config = parseKubeconfig(readFileSync(server.kubeconfig, 'utf8'), server.kubeconfig)
    const ca = Buffer.from(config.clusters![0]!.cluster['certificate-authority-data']!, 'base64').toString()
    await using transport = createHttpTransport({
      server: server.url,
      tls: { ca, ...(pair && { cert: pair.certificate, key: pair.key }) },
    })
    const { status, body } = await transport.send({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      query: '',
      headers: { ...headers, 'content-type': 'application/json' },
      body: new TextEncoder().encode('{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}'),
      signal: new AbortController().signal,
    })
    const chunks: Uint8Array[] = []
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
    const answer = JSON.parse(Buffer.concat(chunks).toString())
    return status === 201 ? answer.status.userInfo : status
  }
  const issue = (commonName: string, ca: KeyPair) =>
    createCertificate({ subject: { commonName }, usages: ['client'], ...validity }, random, ca)

  it('vouch for others when their CA signed them and their name is right', async () => {
    assert.deepEqual(await whoIsWith(issue('front-proxy', proxyCa)), {
      username: 'petra',
      groups: ['devs', 'system:authenticated'],
      extra: { ship: ['argo'] },
    })
    assert.equal(await whoIsWith(issue('other', proxyCa)), 401)
  })

  it('keep their identity: headers that clients send are ignored', async () => {
    const { users } = parseKubeconfig(readFileSync(server.kubeconfig, 'utf8'), server.kubeconfig)
    const { user } = users![0]!
    const [certificate, key] = [user['client-certificate-data']!, user['client-key-data']!].map(data =>
      Buffer.from(data, 'base64').toString(),
    )
    const admin = (await whoIsWith({ certificate: certificate!, key: key! })) as { username: string }
    assert.equal(admin.username, 'kubernetes-admin')
    assert.equal(await whoIsWith(undefined), 401)
    assert.equal(await whoIsWith(issue('front-proxy', makeCa('proxy-ca'))), 401)
  })
})

describe('anonymous requests', () => {
  it('are let in where the configuration says, and nowhere else', async () => {
    const get = async (path: string) => {
      const args = ['-sk', '-o', '/dev/null', '-w', '%{http_code}', `${server.url}${path}`]
      return (await execute('curl', args)).stdout
    }
    assert.equal(await get('/livez'), '200')
    assert.equal(await get('/version'), '401')
  })
})

describe('the AuthenticationConfiguration', () => {
  it('is read again when it has changed, and kept as it was when it makes no sense', async () => {
    const path = join(directory, 'authentication.json')
    const before = readFileSync(path, 'utf8')
    const token = idToken({ sub: 'olga', roles: [] })
    /** Whether kubectl gets `expected` within twenty seconds. */
    const becomes = async (expected: RegExp) => {
      let answer = ''
      for (let left = 20; left > 0; left--) {
        answer = await whoIs('oidc', `--token=${token}`)
        if (expected.test(answer)) return
        await new Promise(resolve => setTimeout(resolve, 1000))
      }
      assert.match(answer, expected)
    }
    await becomes(/^oidc:olga /)
    writeFileSync(path, before.replace('oidc:', 'again:'))
    await becomes(/^again:olga /)
    writeFileSync(path, '{"kind":"Nonsense"}')
    await new Promise(resolve => setTimeout(resolve, 11_000))
    await becomes(/^again:olga /)
    writeFileSync(path, before)
  })
})

describe('tokens', () => {
  it('outlive a restart of the server', async () => {
    const token = (await ok('create', 'token', 'bot')).trim()
    await server.kill()
    await server.restart()
    assert.match(await whoIs('again', `--token=${token}`), /^system:serviceaccount:default:bot /)
  })
})
