import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { bundlePackage } from './bundle-package.ts'

const exports = {
  './one': { types: './src/one.d.ts', default: './src/one.js' },
  './*': { types: './src/gen/*.d.ts', default: './src/gen/*.js' },
}

function packageOf(files: Readonly<Record<string, string>>): { folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-bundle-'))
  for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

const load = (folder: string, path: string): Promise<Record<string, unknown>> =>
  import(pathToFileURL(join(folder, path)).href)

describe('a bundled package', () => {
  it('has few files, and one copy of what its entry points share', async () => {
    using made = packageOf({
      'src/one.js': "export { Shared } from './shared.js'\nimport './inner.js'\n",
      'src/gen/a/two.js': "export { Shared } from '../../shared.js'\n",
      'src/shared.js': 'export class Shared {}\n',
      'src/inner.js': 'globalThis.innerRan = true\n',
      'src/one.d.ts': 'export {}\n',
    })
    await bundlePackage(made.folder, exports)
    const files = globSync('src/**/*.{js,ts}', { cwd: made.folder }).sort()
    assert.equal(files.length, 4, files.join(' '))
    assert.deepEqual(
      files.filter(file => !file.startsWith('src/chunks/')),
      ['src/gen/a/two.js', 'src/one.d.ts', 'src/one.js'],
    )
    const [one, two] = [await load(made.folder, 'src/one.js'), await load(made.folder, 'src/gen/a/two.js')]
    assert.equal(one.Shared, two.Shared)
    assert.equal((globalThis as { innerRan?: boolean }).innerRan, true)
  })

  it('stays as it is when files are found by URL', async () => {
    using made = packageOf({
      'src/one.js': "import './two.js'\n",
      'src/two.js': "export const worker = new URL('./worker.js', import.meta.url)\n",
    })
    await bundlePackage(made.folder, exports)
    assert.deepEqual(globSync('src/*.js', { cwd: made.folder }).sort(), ['src/one.js', 'src/two.js'])
  })
})
