import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createCertificateRequest, generateKey } from '@coxswain/wire/node'
import { kubectlVersions } from '../support/kubectl.ts'
import { startTarget, type Target } from '../support/target.ts'
import { createSession, type Session } from './session.ts'

let target: Target

before(async () => {
  target = await startTarget()
})
after(() => target[Symbol.asyncDispose]())

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.trim().split('.')[1]!, 'base64url').toString())
}

describe('who kubectl 1.36 is to the server', () => {
  let session: Session
  before(async () => {
    session = await createSession(target, '1.36', 'crew-1-36')
    await session.ok('create serviceaccount bosun', 'serviceaccount/bosun created')
  })
  after(() => session[Symbol.dispose]())

  /** Adds a kubeconfig user with this token, for `--user`. */
  const become = (user: string, token: string) =>
    session.ok(`config set-credentials ${user} --token=${token.trim()}`, /^User "\w+" set\.$/m)

  /** The user's credential stops to count within ten seconds: a real server remembers a token for that long. */
  async function ends(user: string): Promise<void> {
    for (let left = 10; left > 0; left--) {
      const { code } = await session.kubectl(`--user=${user}`, 'auth', 'whoami')
      if (code !== 0) break
      await new Promise(resolve => setTimeout(resolve, 1000))
    }
    await session.fails(`--user=${user} auth whoami`, /Unauthorized/)
  }

  it('tells who one is, and who one acts as', async () => {
    await session.ok('auth whoami', /^Username +\S+$/m, /^Groups +\[system:masters system:authenticated\]$/m)
    const acting = 'auth whoami --as=joe --as-group=devs --as-group=ops --as-uid=u1'
    await session.ok(acting, /^Username +joe$/m, /^UID +u1$/m, /^Groups +\[devs ops system:authenticated\]$/m)
    await session.ok(
      'auth whoami --as=system:serviceaccount:crew-1-36:bosun -o jsonpath={.status.userInfo.groups}',
      '["system:serviceaccounts","system:serviceaccounts:crew-1-36","system:authenticated"]',
    )
    await session.fails('get pods --as=joe', /User "joe" cannot list resource "pods"/)
  })

  it('creates tokens for an audience and a duration', async () => {
    const plain = claimsOf(await session.ok('create token bosun'))
    assert.equal(plain.sub, 'system:serviceaccount:crew-1-36:bosun')
    assert.equal((plain.exp as number) - (plain.iat as number), 3600)
    const other = claimsOf(await session.ok('create token bosun --audience=vault --duration=20m'))
    assert.deepEqual(other.aud, ['vault'])
    assert.equal((other.exp as number) - (other.iat as number), 1200)
    await session.fails('create token bosun --duration=1m', /may not specify a duration less than 10 minutes/)
    await session.fails('create token missing', /serviceaccounts "missing" not found/)
  })

  it('is a service account with its token, as long as what it is bound to is there', async () => {
    await session.ok('create secret generic anchor', 'secret/anchor created')
    const token = await session.ok('create token bosun --bound-object-kind=Secret --bound-object-name=anchor')
    await become('bosun', token)
    await session.ok(
      '--user=bosun auth whoami',
      /^Username +system:serviceaccount:crew-1-36:bosun$/m,
      /^Extra: authentication\.kubernetes\.io\/credential-id +\[JTI=[0-9a-f-]+\]$/m,
    )
    await session.fails('--user=bosun get pods', /cannot list resource "pods" in API group ""/)
    await session.ok('delete secret anchor')
    await ends('bosun')
  })

  it('is unauthenticated with a token for another audience, and with no token at all', async () => {
    await become('unknown', await session.ok('create token bosun --audience=vault'))
    await session.fails('--user=unknown auth whoami', /Unauthorized/)
    await become('unknown', 'not-a-token')
    await session.fails('--user=unknown get pods', /Unauthorized/)
  })

  it('is unauthenticated when its account has been deleted', async () => {
    await session.ok('create serviceaccount cook', 'serviceaccount/cook created')
    await become('cook', await session.ok('create token cook'))
    await session.ok('--user=cook auth whoami', /:cook/)
    await session.ok('delete serviceaccount cook')
    await ends('cook')
  })

  it('reads the keys of the issuer', async () => {
    const { kid } = JSON.parse(
      Buffer.from((await session.ok('create token bosun')).split('.')[0]!, 'base64url').toString(),
    )
    const { keys } = JSON.parse(await session.ok('get --raw /openid/v1/jwks'))
    assert.ok(keys.some((key: { kid: string }) => key.kid === kid))
    const { issuer } = JSON.parse(await session.ok('get --raw /.well-known/openid-configuration'))
    assert.equal(claimsOf(await session.ok('create token bosun')).iss, issuer)
  })
})

for (const version of kubectlVersions) {
  describe(`certificate requests with kubectl ${version}`, () => {
    let session: Session
    const suffix = version.replace('.', '-')
    before(async () => {
      session = await createSession(target, version, `signers-${suffix}`)
    })
    after(() => session[Symbol.dispose]())

    async function ask(name: string): Promise<void> {
      const pem = createCertificateRequest({ commonName: 'jane', organizations: ['devs'] }, generateKey())
      const manifest = {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: 'kubernetes.io/kube-apiserver-client',
          usages: ['client auth'],
        },
      }
      const file = join(session.directory, `${name}.json`)
      writeFileSync(file, JSON.stringify(manifest))
      await session.ok(`create -f ${file}`, /created$/m)
    }

    it('are approved, or denied, once', async () => {
      await ask(`yes-${suffix}`)
      await session.ok(`get csr yes-${suffix}`, /kubernetes\.io\/kube-apiserver-client +\S+ .*Pending/)
      await session.ok(`certificate approve yes-${suffix}`, /yes-\S+ approved$/m)
      await session.ok(`get csr yes-${suffix}`, /Approved/)
      await session.fails(`certificate deny yes-${suffix}`, /is already Approved/)
      await ask(`no-${suffix}`)
      await session.ok(`certificate deny no-${suffix}`, /no-\S+ denied$/m)
      await session.ok(`get csr no-${suffix}`, /Denied/)
      await session.ok(`delete csr yes-${suffix} no-${suffix}`)
    })
  })
}
