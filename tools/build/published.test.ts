import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { publishedManifest, rewriteExtensions } from './published.ts'

describe('a published manifest', () => {
  it('points at the compiled files and their declarations', () => {
    const manifest = publishedManifest({
      name: '@coxswain/wire',
      exports: {
        '.': './src/index.ts',
        './node': './src/node/index.ts',
        './schema.json': './src/schema.json',
      },
      bin: { coxswain: './bin/coxswain.ts' },
      dependencies: { '@coxswain/kit': '0.1.0' },
      devDependencies: { ajv: '8.20.0' },
    })
    assert.deepEqual(manifest, {
      name: '@coxswain/wire',
      exports: {
        '.': { types: './src/index.d.ts', default: './src/index.js' },
        './node': { types: './src/node/index.d.ts', default: './src/node/index.js' },
        './schema.json': './src/schema.json',
      },
      bin: { coxswain: './bin/coxswain.js' },
      files: ['src', 'bin'],
      dependencies: { '@coxswain/kit': '0.1.0' },
    })
  })
})

describe('the files that are published', () => {
  it('are those that the manifest points at', () => {
    const { files } = publishedManifest({ exports: { '.': './src/index.ts', './bin': './bin/coxswain.ts' } })
    assert.deepEqual(files, ['src', 'bin'])
    assert.deepEqual(publishedManifest({ exports: { '.': './src/index.ts' }, bin: './bin/x.ts' }).files, [
      'src',
      'bin',
    ])
    assert.deepEqual(publishedManifest({ exports: { '.': './src/index.ts' } }).files, ['src'])
  })

  it('leaves out what only tests import', () => {
    const exports = { '.': './src/index.ts', './test-support/*': './src/test-support/*.ts' }
    assert.deepEqual(Object.keys(publishedManifest({ exports }).exports ?? {}), ['.'])
  })
})

describe('rewriting extensions', () => {
  it('turns relative specifiers and worker files to .js', () => {
    const cases = {
      "export { a } from './a.ts'": "export { a } from './a.js'",
      'import type { B } from "../b.ts"': 'import type { B } from "../b.js"',
      "type C = import('./c.ts').C": "type C = import('./c.js').C",
      "import './d.ts'": "import './d.js'",
      "new Worker(new URL('./worker.ts', import.meta.url))":
        "new Worker(new URL('./worker.js', import.meta.url))",
      "new URL('writer.ts', import.meta.url)": "new URL('writer.js', import.meta.url)",
    }
    for (const [before, after] of Object.entries(cases)) assert.equal(rewriteExtensions(before), after)
  })

  it('leaves packages, declarations and text alone', () => {
    for (const text of [
      "import 'pino'",
      "from './a.d.json'",
      "'coxswain run ./operator.ts'",
      "import '@scope/x.ts'",
    ]) {
      assert.equal(rewriteExtensions(text), text)
    }
  })
})
