import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../coxswain/bin/coxswain.js', import.meta.url))

function coxswain(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [command, ...args])
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

/** A directory that is gone when the test ends. */
function scratch(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-cli-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

describe('the coxswain command', () => {
  it('lists its commands, and the options of a command', async () => {
    const help = await coxswain('--help')
    assert.equal(help.code, 0)
    for (const word of ['up', 'run', '--version', '--help']) assert.ok(help.stdout.includes(word), word)
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
    ['a port that is none', ['up', '--port', 'x'], /port/],
    ['a store that is none', ['up', '--storage', 'floppy'], /sqlite/],
    ['a controller that is none', ['up', '--controllers', 'nothing'], /there is no nothing/],
    [
      'etcd without servers',
      ['up', '--storage', 'etcd', '--data-dir', join(tmpdir(), 'coxswain-unused')],
      /--etcd-servers/,
    ],
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

  const oneLine = (stderr: string) => assert.equal(stderr.trim().split('\n').length, 1, stderr)

  it('says that a port is in use, with exit code 1', async () => {
    using directory = scratch()
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => blocker.once('listening', resolve))
    const { port } = blocker.address() as { port: number }
    const { code, stderr } = await coxswain('up', '--port', String(port), '--data-dir', directory.path)
    await new Promise(resolve => blocker.close(resolve))
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`port ${port} of 127.0.0.1 is in use`))
    oneLine(stderr)
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

  it('names an operator file that is not there, and one that exports no operator', async () => {
    using directory = scratch()
    const absent = await coxswain('run', join(directory.path, 'none.ts'))
    assert.equal(absent.code, 1)
    assert.match(absent.stderr, /none.ts: there is no such file/)
    const other = join(directory.path, 'other.ts')
    writeFileSync(other, 'export default 3\n')
    const wrong = await coxswain('run', other)
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /its default export is not an operator/)
  })

  it('ends, and says why, when the thread of its control loops fails', async () => {
    using directory = scratch()
    const file = join(directory.path, 'plugin.mjs')
    // Where flags are looked at it is fine.
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
    assert.match(stderr, /--scheduler-plugin .*plugin\.mjs: it cannot be loaded: broken where it runs/)
  })
})
