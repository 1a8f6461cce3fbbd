import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makeDirectories } from './directories.ts'

describe('makeDirectories', () => {
  it('creates missing directories, with a mode, and returns what it created', () => {
    const root = mkdtempSync(join(tmpdir(), 'coxswain-directories-'))
    try {
      const path = join(root, 'a', 'b')
      assert.deepEqual(makeDirectories(path, 0o700), [join(root, 'a'), path])
      assert.equal(statSync(path).mode & 0o777, 0o700)
      assert.deepEqual(makeDirectories(path), [])
      writeFileSync(join(path, 'file'), '')
      assert.throws(() => makeDirectories(join(path, 'file', 'below')), { code: 'ENOTDIR' })
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  it('fails where no directory can be created, instead of retrying forever', { timeout: 10_000 }, () => {
    assert.throws(() => makeDirectories('/proc/coxswain/data'), { code: 'ENOENT' })
  })
})
