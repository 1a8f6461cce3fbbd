import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createProgram } from '../main.ts'
import { fixedFlags, kubeApiserverFlags } from './kube-apiserver-flags.ts'
import { translate } from './translate.ts'

const up = (await createProgram('up')).commands.find(command => command.name() === 'up')!
const read = (...args: string[]) => translate(args, up)

describe('flags of kube-apiserver', () => {
  it('are passed on where coxswain up has them, in every form that kube-apiserver reads', () => {
    const { shared, ignored } = read(
      '--authorization-mode',
      'RBAC',
      '--anonymous-auth',
      '--enable_bootstrap_token_auth=true',
      '--service-account-issuer=https://a=b',
      '--encryption-provider-config-automatic-reload=false',
      '--disable-admission-plugins=ServiceAccount',
    )
    assert.deepEqual(shared, [
      '--authorization-mode=RBAC',
      '--anonymous-auth=true',
      '--enable-bootstrap-token-auth=true',
      '--service-account-issuer=https://a=b',
      '--disable-admission-plugins=ServiceAccount',
    ])
    assert.deepEqual(ignored, [])
  })

  it('that cannot change an answer are named once', () => {
    const { shared, ignored } = read(
      '-v=2',
      '--v',
      '4',
      '--profiling',
      '--request-timeout',
      '5s',
      '--goaway-chance=0.1',
    )
    assert.deepEqual(shared, [])
    assert.deepEqual(ignored, ['v', 'profiling', 'request-timeout', 'goaway-chance'])
  })

  it('that would change answers are refused, unless they ask for what is there', () => {
    assert.deepEqual(read('--allow-privileged', '--feature-gates=AllAlpha=false').ignored, [])
    assert.throws(
      () => read('--allow-privileged=false'),
      /--allow-privileged=false would change the answers .* only true/,
    )
    assert.throws(
      () => read('--runtime-config=api/alpha=true'),
      /this server does not have it; leave the flag out/,
    )
    assert.throws(
      () => read('--feature-gates=AllBeta=true,SomeGate=true'),
      /AllBeta=true,SomeGate=true would change .* only AllAlpha=false/,
    )
    assert.throws(() => read('--service-node-port-range', '20000-21000'), /only 30000-32767/)
  })

  it('that it does not have, and flags of coxswain up alone, are unknown', () => {
    for (const flag of [
      '--insecure-port=0',
      '--storage=memory',
      '--controllers=none',
      '--unsafe-no-fsync',
      '--nodes=1',
    ])
      assert.throws(() => read(flag), { message: `unknown flag: ${flag.replace(/=.*/, '')}`, exitCode: 1 })
    assert.throws(() => read('serve'), /unknown command or argument "serve"/)
    assert.throws(() => read('--secure-port'), /flag needs an argument: --secure-port/)
  })

  it('that are restricted here are flags of kube-apiserver which coxswain up does not have', () => {
    const names = new Set(up.options.map(({ long }) => long!.slice(2)))
    for (const name of Object.keys(fixedFlags))
      assert.ok(kubeApiserverFlags.has(name) && !names.has(name), name)
  })
})
