import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Command } from 'commander'
import type { RunConfig } from './config.ts'
import { applyConfig, operatorsOf } from './load-config.ts'
import { addSettings, completeBooleans, propertyOf, runSettings, variableOf } from './settings.ts'

const file = '/project/coxswain.config.ts'

/** The options of `coxswain run` from flags, environment and configuration file. */
function resolve(words: readonly string[], config: RunConfig = {}, variables: Record<string, string> = {}) {
  Object.assign(process.env, variables)
  const command = addSettings(new Command('run'), runSettings)
    .argument('[file...]')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  try {
    command.parse(completeBooleans(['node', 'run', ...words]))
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
  applyConfig(command, runSettings, { file, config })
  return { ...command.opts(), files: command.args }
}

describe('the settings of an operator host', () => {
  it('come from a flag, else its variable, else the file, else the default', () => {
    const config = { leaderElectionId: 'file', logLevel: 'warn', metricsBindAddress: ':1' } as const
    const variables = { COXSWAIN_LEADER_ELECTION_ID: 'variable', COXSWAIN_LOG_LEVEL: 'error' }
    const options = resolve(['--leader-election-id', 'flag'], config, variables)
    assert.partialDeepStrictEqual(options, {
      leaderElectionId: 'flag',
      logLevel: 'error',
      metricsBindAddress: ':1',
      leaderElectionLeaseDuration: '15s',
      leaderElect: false,
    })
  })

  it('accept booleans as Go does: bare, or with =', () => {
    const options = resolve(['--leader-elect', 'operator.ts', '--metrics-secure=false'])
    assert.partialDeepStrictEqual(options, {
      leaderElect: true,
      metricsSecure: false,
      files: ['operator.ts'],
    })
    assert.partialDeepStrictEqual(resolve([], {}, { COXSWAIN_LEADER_ELECT: 'true' }), { leaderElect: true })
  })

  it('are not taken from the variables that a Service coxswain-webhook gives to Pods', () => {
    const options = resolve([], {}, { COXSWAIN_WEBHOOK_PORT: 'tcp://10.96.0.7:443' })
    assert.equal('webhookPort' in options, false)
    assert.partialDeepStrictEqual(resolve([], {}, { COXSWAIN_WEBHOOK_PORT: '9443' }), { webhookPort: 9443 })
  })

  it('name namespaces that can exist', () => {
    assert.throws(() => resolve(['--namespaces', 'a,b c']), /"b c" is not the name of a namespace/)
  })

  it('parse lists and maps alike from every source', () => {
    const expected = { namespaces: ['a', 'b'], concurrency: { x: 2, y: 3 } }
    assert.partialDeepStrictEqual(
      resolve(['--namespaces', 'a,b', '--concurrency', 'x=2', '--concurrency', 'y=3']),
      expected,
    )
    assert.partialDeepStrictEqual(resolve([], expected), expected)
    assert.partialDeepStrictEqual(
      resolve([], {}, { COXSWAIN_NAMESPACES: 'a, b', COXSWAIN_CONCURRENCY: 'x=2,y=3' }),
      expected,
    )
  })

  it('can all be set by flag, variable and file', () => {
    const samples: Readonly<Record<string, string>> = {
      '<file>': '/a/file',
      '<dir>': '/a/dir',
      '<text>': 'text',
      '<n>': '7',
      '<duration>': '3s',
      '<address>': ':7',
      '<list>': 'a,b',
      '<controller=n>': 'x=2',
      '<namespace/name>': 'a/b',
      '<format>': 'json',
      '<level>': 'debug',
    }
    for (const setting of runSettings) {
      const property = propertyOf(setting)
      const text = setting.value === '[bool]' ? String(!setting.default) : samples[setting.value]
      assert.ok(text !== undefined, `${setting.flag}: no sample of ${setting.value}`)
      const read = (options: Record<string, unknown>) => options[property]
      const byFlag = read(resolve([`--${setting.flag}=${text}`]))
      assert.notDeepEqual(byFlag, setting.default, setting.flag)
      assert.deepEqual(read(resolve([], {}, { [variableOf(setting)]: text })), byFlag, setting.flag)
      assert.deepEqual(read(resolve([], { [property]: byFlag } as RunConfig)), byFlag, setting.flag)
    }
  })

  it('resolve paths in the file relative to its directory', () => {
    assert.partialDeepStrictEqual(resolve([], { webhookCertPath: 'certs' }), {
      webhookCertPath: '/project/certs',
    })
    assert.deepEqual(operatorsOf({ file, config: { operators: ['a.ts', '/b.ts'] } }), [
      '/project/a.ts',
      '/b.ts',
    ])
  })

  it('report the flag, the variable or the setting in the file that is invalid', () => {
    const bad: [string, string][] = [
      ['leader-election-lease-duration', '15'],
      ['metrics-bind-address', '8443'],
      ['concurrency', 'x'],
      ['kube-api-qps', '-1'],
      ['log-format', 'xml'],
      ['webhook-port', '99999'],
      ['leader-elect', 'maybe'],
      ['namespaces', ','],
    ]
    for (const [flag, value] of bad) {
      const setting = runSettings.find(each => each.flag === flag)!
      const variable = variableOf(setting)
      const property = propertyOf(setting)
      assert.throws(() => resolve([`--${flag}=${value}`]), new RegExp(`--${flag}.*${value}.* invalid`))
      assert.throws(() => resolve([], {}, { [variable]: value }), new RegExp(`from env '${variable}'`))
      assert.throws(
        () => resolve([], { [property]: value }),
        new RegExp(`^CommandError: ${file}: ${property}: `),
      )
    }
    assert.throws(() => resolve([], { nothing: 1 } as RunConfig), /unknown setting nothing/)
  })
})
