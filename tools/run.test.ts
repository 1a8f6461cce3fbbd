import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type RunResult, run } from './components/process.ts'

describe('starting a program of the repository', () => {
  let root = ''

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'coxswain-run-'))
    await mkdir(join(root, 'tools'))
    await copyFile(new URL('run.js', import.meta.url), join(root, 'tools/run.js'))
    await writeFile(join(root, 'package.json'), '{ "type": "module" }')
    await writeFile(
      join(root, 'tools/echo.ts'),
      'console.log(JSON.stringify(process.argv.slice(1)) as string)',
    )
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  const start = (nodeArgs: readonly string[], ...args: string[]): Promise<RunResult> =>
    run(process.execPath, [...nodeArgs, join(root, 'tools/run.js'), ...args])

  it('says what to do when nothing is installed', async () => {
    const { code, stderr } = await start([], 'tools/echo.ts')
    assert.equal(code, 2)
    assert.equal(stderr, 'coxswain: the dependencies are not installed\n  run: npm install\n')
  })

  it('says what to do when Node is too old, whether the repository has its own or not', async () => {
    await mkdir(join(root, 'node_modules'))
    const pretend = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })"
    const old = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
    const without = await start(old, 'tools/echo.ts')
    assert.equal(without.code, 2)
    assert.match(
      without.stderr,
      /Node.js 24 or later is required, but this is 20\.20\.2\n {2}run: npm install/,
    )
    await mkdir(join(root, 'node_modules/node/bin'), { recursive: true })
    await writeFile(join(root, 'node_modules/node/bin/node'), '')
    assert.match((await start(old, 'tools/echo.ts')).stderr, /start through npm/)
  })

  it('is installed without a word about what packages need of Node', async () => {
    const workspaces = ['a']
    await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'r', private: true, workspaces }))
    await mkdir(join(root, 'a'))
    const engines = { node: '>=999' }
    await writeFile(join(root, 'a/package.json'), JSON.stringify({ name: 'a', version: '1.0.0', engines }))
    await copyFile(new URL('../.npmrc', import.meta.url), join(root, '.npmrc'))
    const { npm_config_loglevel: _, ...env } = process.env
    const args = ['install', '--offline', '--dry-run', '--ignore-scripts']
    const { code, stdout, stderr } = await run('npm', args, { cwd: root, env })
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stdout + stderr, /EBADENGINE/)
  })

  it('runs the program in its own process, with its arguments', async () => {
    await mkdir(join(root, 'node_modules'))
    const { code, stdout } = await start([], 'tools/echo.ts', '--flag', 'a b')
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout), [join(root, 'tools/echo.ts'), '--flag', 'a b'])
  })
})
