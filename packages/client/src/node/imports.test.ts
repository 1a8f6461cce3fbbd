import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'

/** Of Node's own modules, those that a program has loaded. */
function loadedBy(program: string): string[] {
  const script = `${program}\nprocess.stdout.write(process.moduleLoadList.join('\\n'))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  return output.split('\n').flatMap(line => /^NativeModule (.+)$/.exec(line)?.[1] ?? [])
}

describe('importing the client', () => {
  it('loads nothing that only connections need', () => {
    const heavy = ['http', 'https', 'http2', 'tls', 'child_process', 'internal/deps/undici/undici']
    const seen = loadedBy(`await import('./index.ts')`)
    assert.deepEqual(
      heavy.filter(name => seen.includes(name)),
      [],
    )
    assert.ok(loadedBy(`await import('node:https')`).includes('tls'), 'such modules would be seen')
  })
})
