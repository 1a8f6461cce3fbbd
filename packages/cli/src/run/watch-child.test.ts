import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'

describe('a process that waits for its turn', () => {
  it('has loaded what operators in TypeScript need, without a warning', () => {
    const program = `
      const { loadTypeScript } = await import('./watch-child.ts')
      loadTypeScript()
      process.emitWarning('others are still seen')`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    assert.doesNotMatch(stderr, /ExperimentalWarning/)
    assert.match(stderr, /others are still seen/)
  })
})
