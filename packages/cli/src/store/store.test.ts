import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ConfigMap } from '@coxswain/api/core/v1'
import { createClientFromKubeconfig } from '@coxswain/client/node'

const command = fileURLToPath(new URL('../../../coxswain/bin/coxswain.js', import.meta.url))

function coxswain(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [command, ...args])
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => {
    output.stdout += chunk
  })
  child.stderr.on('data', chunk => {
    output.stderr += chunk
  })
  return new Promise(resolve => child.on('close', code => resolve({ code, ...output })))
}

async function up(dataDir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [
    command,
    'up',
    '--port',
    '0',
    '--data-dir',
    dataDir,
    '--controllers',
    'none',
  ])
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', code => reject(new Error(`coxswain up ended with ${code}`)))
  })
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise(resolve => child.once('close', resolve))
  child.kill('SIGTERM')
  await ended
}

describe('coxswain store', () => {
  it('checks, backs up and restores the store of a running server, and of one that is stopped', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'coxswain-store-'))
    const backup = join(dataDir, 'backup')
    const key = { namespace: 'default', name: 'later' }
    let server = await up(dataDir)
    try {
      assert.match(
        (await coxswain('store', 'check', '--data-dir', dataDir)).stdout,
        /^the store is intact: revision \d+/,
      )
      assert.equal((await coxswain('store', 'backup', backup, '--data-dir', dataDir)).code, 0)
      {
        await using connected = await createClientFromKubeconfig({ kubeconfig: join(dataDir, 'kubeconfig') })
        const { client } = connected
        await client.create(ConfigMap, { metadata: key })
        const restored = await coxswain('store', 'restore', backup, '--data-dir', dataDir)
        assert.match(restored.stdout, /into the running server/, restored.stderr)
        assert.equal(await client.get(ConfigMap, key), undefined)
        await client.create(ConfigMap, { metadata: key })
      }
      await stop(server)
      const restored = await coxswain('store', 'restore', backup, '--data-dir', dataDir)
      assert.equal(restored.code, 0, restored.stderr)
      server = await up(dataDir)
      await using connected = await createClientFromKubeconfig({ kubeconfig: join(dataDir, 'kubeconfig') })
      assert.equal(await connected.client.get(ConfigMap, key), undefined)
    } finally {
      await stop(server)
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  it('reports a damaged store, and does not start on it', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'coxswain-store-'))
    try {
      await stop(await up(dataDir))
      const file = join(dataDir, 'store', 'store.sqlite')
      const content = readFileSync(file)
      // In an object, which is read when the server loads it; the index stays intact.
      const at = content.indexOf('"system:node-proxier"')
      content.write('X', at + 3, 'latin1')
      writeFileSync(file, content)
      const check = await coxswain('store', 'check', '--data-dir', dataDir)
      assert.equal(check.code, 1)
      assert.equal(check.stdout, '')
      assert.match(
        check.stderr,
        /is damaged; restore a backup.*\n {2}.*system:node-proxier.* does not match its checksum\n/,
      )
      const started = await coxswain('up', '--port', '0', '--data-dir', dataDir)
      assert.equal(started.code, 1)
      assert.match(
        started.stderr,
        /^coxswain: the store in .* is damaged: .*does not match its checksum; for details run coxswain store check.*\n$/,
      )
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  it('reports errors in one line', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'coxswain-store-'))
    const none = await coxswain('store', 'check', '--data-dir', dataDir)
    assert.equal(none.code, 1)
    assert.match(none.stderr, /^coxswain: there is no store in .*\n$/)
    const absent = await coxswain('store', 'restore', join(dataDir, 'absent'), '--data-dir', dataDir)
    assert.match(absent.stderr, /absent: does not exist/)
    const file = join(dataDir, 'file')
    writeFileSync(file, 'not a backup')
    const wrong = await coxswain('store', 'restore', file, '--data-dir', dataDir)
    assert.equal(wrong.code, 1)
    assert.equal(wrong.stderr.trim().split('\n').length, 1, wrong.stderr)
    rmSync(dataDir, { recursive: true, force: true })
  })
})
