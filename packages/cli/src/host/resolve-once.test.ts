import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'

const module = new URL('./resolve-once.ts', import.meta.url).href

/** Runs `main.js` of these files with resolveOnce, and returns what it prints. */
function run(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'coxswain-resolve-'))
  try {
    for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    const start = `import { resolveOnce } from '${module}'; resolveOnce(); await import('${join(root, 'main.js')}')`
    return execFileSync(process.execPath, ['--input-type=module', '-e', start], { encoding: 'utf8' })
  } finally {
    rmSync(root, { recursive: true })
  }
}

const packageOf = (folder: string, name: string) => ({
  [`${folder}node_modules/dep/package.json`]: '{"type":"module","exports":"./index.js"}',
  [`${folder}node_modules/dep/index.js`]: `export const name = '${name}'`,
})

describe('resolveOnce', () => {
  it('gives each folder its own version of a package', () => {
    const files = {
      ...packageOf('', 'outer'),
      ...packageOf('inner/', 'inner'),
      'inner/a.js': `export { name } from 'dep'`,
      'b.js': `export { name } from 'dep'`,
      'main.js': `import { name as a } from './inner/a.js'; import { name as b } from './b.js'; console.log(a, b)`,
    }
    assert.equal(run(files), 'inner outer\n')
  })

  it('loads a file once, by whatever path it is imported', () => {
    const files = {
      'one.js': `console.log('loaded')`,
      'folder/two.js': `import '../one.js'`,
      'main.js': `import './one.js'; import './folder/two.js'`,
    }
    assert.equal(run(files), 'loaded\n')
  })

  it('leaves what require finds, and what is missing, to Node', () => {
    const files = {
      'folder/value.cjs': `module.exports = require('./other')`,
      'folder/other.js': '',
      'folder/package.json': '{"type":"commonjs"}',
      'main.js': `import './folder/value.cjs'
        const codes = []
        for (const name of ['./folder/other', './folder/other', './folder/other.js'])
          await import(name).then(() => codes.push('found'), error => codes.push(error.code))
        console.log(codes.join())`,
    }
    assert.equal(run(files), 'ERR_MODULE_NOT_FOUND,ERR_MODULE_NOT_FOUND,found\n')
  })
})
