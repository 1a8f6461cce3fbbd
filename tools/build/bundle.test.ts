import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundleCommand } from './bundle.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the bundle of the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-bundle-'))
  const command = join(folder, 'bundle', 'coxswain.js')
  before(() => bundleCommand({ root, folder: join(folder, 'bundle'), kind: 'package' }))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('knows its commit', () => {
    const version = execFileSync(process.execPath, [command, '--version'], { encoding: 'utf8' })
    assert.match(version, /^0\.1\.0 \(commit [0-9a-f]{12}, Kubernetes /)
  })

  it('starts everything, threads and the log included, and stops', async () => {
    const flags = ['--port=0', `--data-dir=${join(folder, 'data')}`, '--log-level=info', '--log-format=json']
    const child = spawn(process.execPath, [command, 'up', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    const closed = once(child, 'close')
    let log = ''
    child.stderr.on('data', chunk => {
      log += chunk
    })
    const [line] = await Promise.race([once(child.stdout, 'data'), closed])
    child.kill('SIGTERM')
    assert.match(String(line), /ready at/, log)
    assert.deepEqual(await closed, [0, null])
    assert.match(log, /"msg":"serving securely"/)
  })
})
