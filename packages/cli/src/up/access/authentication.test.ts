import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { generateSigningKey, readSigningKey } from '@coxswain/apiserver/node'
import { createRealEnv } from '@coxswain/kit'
import { createCertificate } from '@coxswain/wire/node'
import { Command } from 'commander'
import { type AuthenticationFlags, addAuthenticationOptions } from '../options/authentication-options.ts'
import { createAuthentication } from './authentication.ts'

function scratch(): { readonly path: string; write(name: string, text: string): string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-authn-'))
  return {
    path,
    write(name, text) {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

function parse(...args: string[]): AuthenticationFlags {
  const command = addAuthenticationOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  return command.parse(args, { from: 'user' }).opts()
}

function create(directory: string, ...args: string[]) {
  return createAuthentication(parse(...args), { directory, env: createRealEnv(), ca: 'CA' })
}

describe('createAuthentication', () => {
  it('creates a key on the first start, readable by its owner only, and keeps it', async () => {
    using directory = scratch()
    const first = await create(directory.path)
    const file = join(directory.path, 'sa.key')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const second = await create(directory.path)
    const { keyId } = first.options.serviceAccounts!.signingKey
    assert.equal(second.options.serviceAccounts!.signingKey.keyId, keyId)
    assert.equal(readSigningKey(readFileSync(file, 'utf8')).keyId, keyId)
  })

  it('verifies with every given key, and with that of new tokens', async () => {
    using directory = scratch()
    const files = ['old.key', 'older.key', 'new.key'].map(name => directory.write(name, generateSigningKey()))
    const { options } = await create(
      directory.path,
      ...['--service-account-key-file', files[0]!, '--service-account-key-file', files[1]!],
      ...['--service-account-signing-key-file', files[2]!, '--service-account-issuer=https://a'],
      '--service-account-issuer=https://b',
      '--api-audiences=x,y',
    )
    const { signingKey, verificationKeys, issuers } = options.serviceAccounts!
    const ids = files.map(file => readSigningKey(readFileSync(file, 'utf8')).keyId)
    assert.equal(signingKey.keyId, ids[2])
    assert.deepEqual(
      verificationKeys.map(({ keyId }) => keyId),
      ids,
    )
    assert.deepEqual(issuers, ['https://a', 'https://b'])
    assert.deepEqual(options.audiences, ['x', 'y'])
  })

  it("has kube-apiserver's defaults, and parses booleans as Go does", () => {
    const preset = parse()
    assert.equal(preset.anonymousAuth, true)
    assert.equal(preset.serviceAccountExtendTokenExpiration, true)
    assert.equal(preset.enableBootstrapTokenAuth, false)
    assert.equal(preset.authenticationTokenWebhookVersion, 'v1beta1')
    assert.equal(parse('--anonymous-auth=false').anonymousAuth, false)
    assert.equal(parse('--enable-bootstrap-token-auth').enableBootstrapTokenAuth, true)
    assert.throws(() => parse('--anonymous-auth=perhaps'), /true or false/)
  })

  for (const [what, flag, text, message] of [
    [
      'an invalid key',
      '--service-account-signing-key-file',
      'SECRET',
      /does not contain a valid RSA or ECDSA private key/,
    ],
    [
      'invalid keys',
      '--service-account-key-file',
      'SECRET',
      /does not contain any valid RSA or ECDSA public keys/,
    ],
    ['an invalid token file', '--token-auth-file', 'SECRET', /line 1/],
    [
      'an invalid configuration',
      '--authentication-config',
      'SECRET: 1',
      /expected AuthenticationConfiguration/,
    ],
    ['an invalid CA', '--requestheader-client-ca-file', 'SECRET', /does not contain any certificate/],
  ] as const) {
    it(`reports the flag of ${what}, and never its content`, async () => {
      using directory = scratch()
      const file = directory.write('file', text)
      await assert.rejects(create(directory.path, flag, file), (error: Error) => {
        assert.match(error.message, new RegExp(`^${flag} `))
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /SECRET/)
        return true
      })
    })
  }

  for (const [what, args, message] of [
    ['half an OpenID provider', ['--oidc-issuer-url=https://a'], /must be specified together/],
    [
      'an algorithm with a shared secret',
      ['--oidc-issuer-url=https://a', '--oidc-client-id=x', '--oidc-signing-algs=HS256'],
      /unsupported signing alg: "HS256"/,
    ],
    [
      'an issuer without TLS',
      ['--oidc-issuer-url=http://a', '--oidc-client-id=x'],
      /URL scheme must be https/,
    ],
    ['a limit that is too short', ['--service-account-max-token-expiration=1m'], /from 1 hour/],
  ] as const) {
    it(`rejects ${what}`, async () => {
      using directory = scratch()
      await assert.rejects(create(directory.path, ...args), message)
    })
  }

  it('accepts either the flag or the configuration for anonymous requests', async () => {
    using directory = scratch()
    const text =
      'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true}\n'
    const flags = parse('--anonymous-auth=false', '--authentication-config', directory.write('config', text))
    const surroundings = { directory: directory.path, env: createRealEnv(), ca: 'CA' }
    await assert.rejects(
      createAuthentication(flags, { ...surroundings, isAnonymousAuthGiven: true }),
      /--anonymous-auth flag cannot be set when anonymous field is configured/,
    )
    const { options } = await createAuthentication(flags, surroundings)
    assert.equal(options.anonymous, true)
  })

  it('publishes the CAs that it verifies with', async () => {
    using directory = scratch()
    const more = '-----BEGIN CERTIFICATE-----\nMORE\n-----END CERTIFICATE-----\n'
    const { options, clientCa } = await create(
      directory.path,
      '--client-ca-file',
      directory.write('ca', more),
    )
    assert.equal(clientCa, `CA\n${more}`)
    assert.deepEqual(options.trust, { 'client-ca-file': `CA\n${more}` })
  })

  it('publishes front proxies to aggregated API servers: those of the flags, otherwise those of the data directory', async () => {
    using directory = scratch()
    const env = createRealEnv()
    const times = { notBefore: env.clock.now() - 1_000, notAfter: env.clock.now() + 1_000_000 }
    const { certificate: ca } = createCertificate(
      { subject: { commonName: 'ca' }, usages: ['ca'], ...times },
      env.random,
    )
    const trustOf = async (...args: string[]) => {
      const surroundings = { directory: directory.path, env, ca, frontProxyCa: 'PROXIES' }
      return (await createAuthentication(parse(...args), surroundings)).options.trust
    }
    assert.deepEqual(await trustOf(), {
      'client-ca-file': ca,
      'requestheader-client-ca-file': 'PROXIES',
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    })
    const file = `--requestheader-client-ca-file=${directory.write('proxies.crt', ca)}`
    const given = await trustOf(file, '--requestheader-username-headers=X-U')
    assert.equal(given?.['requestheader-client-ca-file'], ca)
    assert.equal(given?.['requestheader-allowed-names'], '[]')
  })
})
