import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { scratch, startIn } from '../test-support/commands.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

async function coxswain(folder: string, ...args: string[]) {
  await using command = startIn(folder, ...args)
  const code = await command.exited
  return { code, ...command.output() }
}

/** A project as an older version scaffolded it, with edits of its author. */
function writeFixture(folder: string, name: string): void {
  const fixture = JSON.parse(readFileSync(join(root, 'packages/project/fixtures', name), 'utf8'))
  for (const [path, lines] of Object.entries(fixture as Record<string, string[]>)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), lines.join('\n'))
  }
}

const init = ['init', '--domain', 'example.com', '--name', 'fleet', '--fetch-deps=false']
const captain = ['--group', 'crew', '--version', 'v1', '--kind', 'Captain']

describe('coxswain init and create', () => {
  it('writes a project whose manifests follow its kinds and webhooks', async () => {
    using folder = scratch()
    const made = await coxswain(folder.path, ...init)
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /Next:\n {2}npm install\n/)
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'))
    const api = await coxswain(folder.path, 'create', 'api', ...captain)
    assert.equal(api.code, 0, api.stderr)
    const read = (path: string) => readFileSync(join(folder.path, path), 'utf8')
    assert.doesNotMatch(read('config/manager/manager.yaml'), /webhook/)
    const webhook = await coxswain(
      folder.path,
      'create',
      'webhook',
      ...captain,
      '--defaulting',
      '--validating',
    )
    assert.equal(webhook.code, 0, webhook.stderr)
    assert.match(read('config/manager/manager.yaml'), /--webhook-service=/, 'the author has not edited it')
    assert.match(webhook.stdout, /^config\/manager\/manager.yaml updated$/m)
    assert.doesNotMatch(webhook.stdout, /config\/samples/, 'which are as before')
    assert.match(read('config/default/kustomization.yaml'), /\.\.\/webhook/)
    const edited = await coxswain(folder.path, 'edit', '--namespaces', 'a,b')
    assert.equal(edited.code, 0, edited.stderr)
    assert.match(read('coxswain.config.ts'), /^ {2}namespaces: \['a', 'b'\],$/m)
    await coxswain(folder.path, 'edit', '--cluster-wide')
    assert.doesNotMatch(read('coxswain.config.ts'), /namespaces/)
    const plugin = await coxswain(folder.path, 'create', 'plugin', 'captains')
    assert.equal(plugin.code, 0, plugin.stderr)
    assert.match(read('package.json'), /"kubectl-captains": ".\/plugins\/kubectl-captains.ts"/)
  })

  it('converts between versions of a kind, as its generated test shows', async () => {
    using folder = scratch()
    await coxswain(folder.path, ...init)
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'))
    const second = [
      '--group',
      'crew',
      '--version',
      'v2',
      '--kind',
      'Captain',
      '--controller=false',
      '--make=false',
    ]
    await coxswain(folder.path, 'create', 'api', ...captain, '--make=false')
    assert.equal((await coxswain(folder.path, 'create', 'api', ...second)).code, 0)
    const webhooks = ['create', 'webhook', ...captain, '--validating', '--make=false']
    assert.equal((await coxswain(folder.path, ...webhooks)).code, 0)
    const webhook = await coxswain(
      folder.path,
      'create',
      'webhook',
      ...captain,
      '--conversion',
      '--spoke',
      'v2',
    )
    assert.equal(webhook.code, 0, webhook.stderr)
    assert.match(webhook.stdout, /edit the conversions in api\/captain.ts/)
    const read = (path: string) => readFileSync(join(folder.path, path), 'utf8')
    assert.match(read('config/crd/patches/webhook_in_captain.yaml'), /strategy: Webhook/)
    assert.match(read('api/captain.test.ts'), /client\.get\(Captain\.v2, key\)/)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const tested = spawnSync(process.execPath, ['--test', 'api/captain.test.ts'], {
      cwd: folder.path,
      encoding: 'utf8',
      env,
    })
    assert.equal(tested.status, 0, tested.stdout)
    assert.match(tested.stdout, /pass 1$/m)
    assert.equal((await coxswain(folder.path, 'upgrade', '--check')).code, 0, 'nothing but the scaffold')
    assert.match((await coxswain(folder.path, ...webhooks)).stderr, /Captain has webhooks already/)
  })

  it('merges a later scaffold into a project of an older version, and marks conflicts', async () => {
    using folder = scratch()
    writeFixture(folder.path, 'scaffold-0.0.1.json')
    const before = readFileSync(join(folder.path, 'package.json'), 'utf8')
    const check = await coxswain(folder.path, 'upgrade', '--check')
    assert.equal(check.code, 1)
    assert.match(check.stderr, /that of coxswain 0.0.1; run: npx coxswain upgrade/)
    assert.match(check.stdout, /--- a\/package.json\n/)
    assert.equal(readFileSync(join(folder.path, 'package.json'), 'utf8'), before)
    const upgraded = await coxswain(folder.path, 'upgrade')
    assert.equal(upgraded.code, 1)
    assert.match(upgraded.stderr, /resolve the conflicts in README.md/)
    assert.ok(!existsSync(join(folder.path, 'Dockerfile')), 'what the author deleted stays deleted')
    assert.match(readFileSync(join(folder.path, 'README.md'), 'utf8'), /^<<<<<<< yours$/m)
    assert.equal((await coxswain(folder.path, 'upgrade')).code, 0)
  })

  it('brings a project that the first release made up to date, with the edits of its author', async () => {
    using folder = scratch()
    writeFixture(folder.path, 'scaffold-0.1.0.json')
    assert.equal((await coxswain(folder.path, 'upgrade', '--check')).code, 1)
    const upgraded = await coxswain(folder.path, 'upgrade')
    assert.equal(upgraded.code, 0, upgraded.stderr)
    const kind = readFileSync(join(folder.path, 'api/captain.ts'), 'utf8')
    assert.match(kind, /rank: s\.enumOf/, 'what the author wrote')
    assert.match(kind, /^ {2}\/\/ \+coxswain:scaffold:conversions$/m, 'what the scaffold has now')
    assert.equal((await coxswain(folder.path, 'upgrade', '--check')).code, 0)
  })

  it('writes nothing when the folder is not empty, or a name cannot be used', async () => {
    using folder = scratch()
    const names = ['init', '--fetch-deps=false', '--domain']
    assert.match(
      (await coxswain(folder.path, ...names, 'Not a domain')).stderr,
      /--domain Not a domain: is not a domain/,
    )
    assert.equal(
      (await coxswain(folder.path, 'init')).stderr.split('\n')[0],
      'coxswain: --domain is required',
    )
    assert.match(
      (await coxswain(folder.path, 'create', 'api', ...captain)).stderr,
      /there is no PROJECT here/,
    )
    folder.file('main.go', '')
    const occupied = await coxswain(folder.path, ...init)
    assert.equal(occupied.code, 1)
    assert.match(occupied.stderr, /this folder is not empty: it has main.go/)
    assert.deepEqual(readdirSync(folder.path), ['main.go'])
    rmSync(join(folder.path, 'main.go'))
    folder.file('package.json', '{')
    assert.match((await coxswain(folder.path, ...init)).stderr, /package.json: /)
    assert.deepEqual(readdirSync(folder.path), ['package.json'])
  })

  it('keeps a file that stands in the way, and says so', async () => {
    using folder = scratch()
    await coxswain(folder.path, ...init)
    mkdirSync(join(folder.path, 'api'))
    folder.file('api/captain.ts', 'mine')
    const project = readFileSync(join(folder.path, 'PROJECT'), 'utf8')
    const { code, stderr } = await coxswain(folder.path, 'create', 'api', ...captain)
    assert.equal(code, 1)
    assert.match(stderr, /api\/captain.ts exists already, and is not overwritten/)
    assert.equal(readFileSync(join(folder.path, 'PROJECT'), 'utf8'), project)
    assert.ok(!existsSync(join(folder.path, 'controllers')))
  })

  it('says that npm install failed, and keeps the project', async () => {
    using folder = scratch()
    folder.file('.npmrc', 'registry=http://127.0.0.1:9/\nfetch-retries=0\n')
    const { code, stderr } = await coxswain(folder.path, 'init', '--domain', 'example.com', '--name', 'fleet')
    assert.equal(code, 1)
    assert.match(
      stderr,
      /the project is written, but its dependencies are not installed; run npm install again:\nnpm error/,
    )
    assert.ok(existsSync(join(folder.path, 'operator.ts')))
  })
})
