import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../coxswain/bin/coxswain.js', import.meta.url))

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const coxswain = (...args: string[]) => start([command, ...args])

function start(args: readonly string[]): Promise<Outcome> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, args)
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.on('close', code => resolve({ code, stdout, stderr }))
  })
}

/** A directory that is removed when the test ends. */
function scratch(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-cli-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

describe('the coxswain command', () => {
  it('lists its commands, and the options of a command', async () => {
    const help = await coxswain('--help')
    assert.equal(help.code, 0)
    for (const word of ['up', 'run', 'dev', '--version', '--help'])
      assert.ok(help.stdout.includes(word), word)
    const up = await coxswain('up', '--help')
    assert.equal(up.code, 0)
    const options = [
      'port',
      'data-dir',
      'storage',
      'etcd-servers',
      'kubeconfig',
      'controllers',
      'nodes',
      'operator',
    ]
    for (const option of options) assert.ok(up.stdout.includes(`--${option}`), option)
    assert.match(up.stdout, /Exit codes: 0 .* 1 .* 2/)
  })

  const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an unknown flag', ['up', '--prot', '1'], /unknown option '--prot'/],
    ['an unknown command', ['upp'], /unknown command 'upp'/],
    ['an invalid port', ['up', '--port', 'x'], /port/],
    ['an unknown store', ['up', '--storage', 'floppy'], /sqlite/],
    ['an unknown controller', ['up', '--controllers', 'nothing'], /unknown controller "nothing"/],
    [
      'etcd without servers',
      ['up', '--storage', 'etcd', '--data-dir', join(tmpdir(), 'coxswain-unused')],
      /--etcd-servers/,
    ],
    [
      'an option that would be ignored',
      ['up', '--etcd-prefix', '/x'],
      /--etcd-prefix has no effect without --storage etcd/,
    ],
    ['an empty path', ['up', '--data-dir', ''], /--data-dir must not be empty/],
    ['a list of controllers that selects none', ['up', '--controllers=-job'], /selects no controller/],
    ['an unknown address type', ['up', '--kubelet-preferred-address-types', 'Mail'], /InternalIP/],
    ['an invalid Service', ['run', 'x.ts', '--webhook-service', 'web'], /NAMESPACE\/NAME/],
    ['a user without a name', ['kubeconfig', '--user', ''], /must not be empty/],
  ]
  for (const [what, args, message] of mistakes) {
    it(`answers ${what} with one clear line and exit code 2`, async () => {
      const { code, stdout, stderr } = await coxswain(...args)
      assert.equal(code, 2, stderr)
      assert.equal(stdout, '')
      assert.match(stderr.split('\n')[0]!, message)
      assert.match(stderr, /^coxswain: /)
      assert.doesNotMatch(stderr, /\n {4}at /, 'no stack')
    })
  }

  it('names the whole command in its hint', async () => {
    const { code, stderr } = await coxswain('store', 'backup')
    assert.equal(code, 2)
    assert.match(stderr, /\(coxswain store backup --help lists the options\)/)
  })

  it('says which Node.js version it needs on an older one, with exit code 2', async () => {
    const pretend = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })"
    const old = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
    const { code, stderr } = await start([...old, command, 'up'])
    assert.equal(code, 2)
    assert.equal(stderr, 'coxswain: Node.js 24 or later is required, but this is 20.20.2\n')
    // A named import that an old version lacks would be a SyntaxError before the first line.
    assert.doesNotMatch(readFileSync(command, 'utf8'), /^import \{/m)
  })

  it('ends quietly when its output is closed', async () => {
    const child = spawn(process.execPath, [command, 'up', '--help'])
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    const code = await new Promise(resolve => child.on('close', resolve))
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  const oneLine = (stderr: string) => assert.equal(stderr.trim().split('\n').length, 1, stderr)

  it('says that a port is in use, with exit code 1', async () => {
    using directory = scratch()
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => blocker.once('listening', resolve))
    const { port } = blocker.address() as { port: number }
    const dataDir = join(directory.path, 'not', 'there')
    const { code, stderr } = await coxswain('up', '--port', String(port), '--data-dir', dataDir)
    await new Promise(resolve => blocker.close(resolve))
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`port ${port} of 127.0.0.1 is in use`))
    oneLine(stderr)
    assert.deepEqual(readdirSync(directory.path), [], 'a start that fails leaves nothing behind')
  })

  it('says why a data directory cannot be used, with exit code 1', async () => {
    using directory = scratch()
    const file = join(directory.path, 'file')
    writeFileSync(file, '')
    const { code, stderr } = await coxswain('up', '--port', '0', '--data-dir', join(file, 'below'))
    assert.equal(code, 1)
    assert.match(stderr, /data directory .* cannot be used: is not a directory/)
    oneLine(stderr)
  })

  it('says in one line where no data directory or kubeconfig can be created', {
    timeout: 30_000,
  }, async () => {
    using directory = scratch()
    const data = await coxswain('up', '--port', '0', '--data-dir', '/proc/coxswain/data')
    assert.equal(data.code, 1)
    assert.match(data.stderr, /cannot be used: cannot create a directory in \/proc\n/)
    oneLine(data.stderr)
    const up = ['up', '--port', '0', '--storage', 'memory', '--data-dir', join(directory.path, 'data')]
    const config = await coxswain(...up, '--kubeconfig', '/proc/coxswain/config')
    assert.equal(config.code, 1)
    assert.match(
      config.stderr,
      /kubeconfig \/proc\/coxswain\/config cannot be written: cannot create a directory/,
    )
    oneLine(config.stderr)
    assert.deepEqual(readdirSync(directory.path), [])
  })

  it('never overwrites a kubeconfig with other clusters', async () => {
    using directory = scratch()
    const file = join(directory.path, 'config')
    writeFileSync(file, 'clusters: [{name: work, cluster: {server: "https://work"}}]\n')
    const { code, stderr } = await coxswain(
      'up',
      '--port',
      '0',
      '--data-dir',
      join(directory.path, 'data'),
      '--kubeconfig',
      file,
    )
    assert.equal(code, 1)
    assert.match(stderr, /config: has other clusters/)
    assert.match(readFileSync(file, 'utf8'), /work/)
    assert.deepEqual(readdirSync(directory.path), ['config'])
    const output = await coxswain('kubeconfig', '--user', 'jane', '--output', file)
    assert.match(output.stderr, /config: already exists/)
  })

  it('says that it waits for etcd, then that etcd cannot be reached, and leaves nothing behind', async () => {
    using directory = scratch()
    const dataDir = join(directory.path, 'data')
    const { code, stderr } = await coxswain(
      'up',
      '--port',
      '0',
      '--etcd-servers',
      'http://127.0.0.1:1',
      '--data-dir',
      dataDir,
    )
    assert.equal(code, 1)
    const [waiting, failed, ...rest] = stderr.trim().split('\n')
    assert.equal(waiting, 'coxswain: waiting for etcd at http://127.0.0.1:1 to answer')
    assert.match(failed ?? '', /^coxswain: etcd at http:\/\/127.0.0.1:1 cannot be used: .*ECONNREFUSED/)
    assert.deepEqual(rest, [])
    assert.equal(existsSync(dataDir), false)
  })

  it('rejects anonymous requests with AlwaysAllow, and restricts its files to their owner', async () => {
    using directory = scratch()
    const dataDir = join(directory.path, 'data')
    const up = ['up', '--port', '0', '--controllers', 'none', '--data-dir', dataDir]
    const child = spawn(process.execPath, [command, ...up, '--authorization-mode', 'AlwaysAllow'])
    const closed = new Promise(resolve => child.on('close', resolve))
    let stderr = ''
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    const line = await new Promise<string>(resolve =>
      child.stdout.once('data', chunk => resolve(String(chunk))),
    )
    const [, url = ''] = /ready at (\S+),/.exec(line) ?? []
    const status = await new Promise(resolve => {
      const request = get(`${url}/api/v1/secrets`, { rejectUnauthorized: false, agent: false }, response => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', resolve)
    })
    const modes = [
      '',
      'pki',
      'pki/ca.crt',
      'pki/ca.key',
      'pki/sa.key',
      'kubeconfig',
      'scheduler.conf',
      'store',
      'store/store.sqlite',
    ].map(name => (statSync(join(dataDir, name)).mode & 0o777).toString(8))
    child.kill('SIGTERM')
    await closed
    assert.equal(status, 401)
    assert.match(stderr, /^coxswain: AnonymousAuth is not allowed with the AlwaysAllow authorizer\./)
    assert.deepEqual(modes, ['700', '700', '600', '600', '600', '600', '600', '700', '600'])
  })

  it('reports an operator file that does not exist, and one that exports no operator', async () => {
    using directory = scratch()
    const absent = await coxswain('run', join(directory.path, 'none.ts'))
    assert.equal(absent.code, 1)
    assert.match(absent.stderr, /none.ts: does not exist/)
    const other = join(directory.path, 'other.ts')
    writeFileSync(other, 'export default 3\n')
    const wrong = await coxswain('run', other)
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /the default export is not an operator/)
  })

  it('does not start with an operator that cannot be loaded', async () => {
    using directory = scratch()
    const file = join(directory.path, 'operator.ts')
    writeFileSync(file, 'const a: = 1\n')
    const dataDir = join(directory.path, 'data')
    const { code, stderr } = await coxswain('up', '--port', '0', '--data-dir', dataDir, '--operator', file)
    assert.equal(code, 1)
    assert.match(stderr, /operator\.ts:1: Unexpected token/)
    assert.equal(existsSync(dataDir), false)
  })

  it('does not start beside operators that do not fit together, or for a controller that none has', async () => {
    using directory = scratch()
    const file = fileURLToPath(new URL('../../../examples/01-at/operator.ts', import.meta.url))
    const dataDir = join(directory.path, 'data')
    const up = ['up', '--port', '0', '--data-dir', dataDir]
    for (const [more, message] of [
      [['--operator', file, file], /^coxswain: there are two operators \S+\n$/],
      [['--operator', file, '--concurrency', 'none=2'], /^coxswain: .*none.*\n$/],
      [['--leader-election-id', 'x'], /^coxswain: --leader-election-id has no effect without --operator\n/],
      [
        ['--operator', file, '--leader-election-namespace', 'x'],
        /^coxswain: --leader-election-namespace has no effect without --leader-election-id\n/,
      ],
    ] as const) {
      const { code, stderr } = await coxswain(...up, ...more)
      assert.equal(code, 2)
      assert.match(stderr, message)
      assert.equal(existsSync(dataDir), false)
    }
  })

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ['types.ts', 'const a = 1\nconst b: = 2\n', /types\.ts:2: Unexpected token/],
    ['script.mjs', 'const a = 1\n\nconst b = = 2\n', /script\.mjs:3: Unexpected token '='/],
    ['import.ts', "const a = 1\nimport x from './absent.ts'\n", /import\.ts:2: Cannot find module/],
    ['throws.ts', 'const f = () => {\n  throw new Error("no\\nway")\n}\nf()\n', /throws\.ts:2: no way/],
    ['text.ts', "throw 'words'\n", /text\.ts: threw words/],
  ]
  for (const [name, text, message] of broken) {
    it(`reports the line at which ${name} cannot be loaded`, async () => {
      using directory = scratch()
      const file = join(directory.path, name)
      writeFileSync(file, text)
      const { code, stderr } = await coxswain('run', file)
      assert.equal(code, 1)
      assert.match(stderr, message)
      oneLine(stderr)
    })
  }

  it('exits with the reason when the thread of its control loops fails', async () => {
    using directory = scratch()
    const file = join(directory.path, 'plugin.mjs')
    // It loads where flags are checked.
    writeFileSync(
      file,
      `import { isMainThread } from 'node:worker_threads'
       if (!isMainThread) throw new Error('broken where it runs')
       export default { name: 'Mine' }`,
    )
    const up = ['up', '--port', '0', '--storage', 'memory', '--data-dir', join(directory.path, 'data')]
    const { code, stdout, stderr } = await coxswain(...up, '--scheduler-plugin', file)
    assert.equal(code, 1, stderr)
    assert.equal(stdout, '', 'it was never ready')
    assert.match(stderr, /--scheduler-plugin cannot be loaded: .*plugin\.mjs:2: broken where it runs/)
  })
})
