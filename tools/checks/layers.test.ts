import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { layers } from './layers.ts'
import { findingsWith } from './test-support/plant.ts'

const only = async (files: Readonly<Record<string, string>>) => {
  const found = await findingsWith(layers, files)
  assert.equal(found.length, 1, found.join('\n'))
  return found[0]
}

describe('layers', () => {
  it('catches an upward import, whatever form it has', async () => {
    const forms = [
      "import { wired } from '@coxswain/wire'",
      "import type { Wired } from '@coxswain/wire'",
      "export { wired } from '@coxswain/wire'",
      "export type { Wired,\n  type Other } from '@coxswain/wire'",
      "import '@coxswain/wire'",
      "import * as wire from '@coxswain/wire'",
      "import wire, { wired } from '@coxswain/wire'",
      "const wire = await import('@coxswain/wire')",
    ]
    for (const form of forms) {
      const found = await findingsWith(layers, { 'packages/kit/src/bad.ts': `${form}\n` })
      assert.ok(
        found.some(text => /upward import: layers.json does not let kit import wire/.test(text)),
        form,
      )
    }
  })

  it('does not take a comment or a string for an import', async () => {
    const text = "// import { x } from '@coxswain/wire'\nconst s = \"import '@coxswain/wire'\"\n"
    assert.deepEqual(await findingsWith(layers, { 'packages/kit/src/good.ts': text }), [])
  })

  it('catches a deep import', async () => {
    assert.match(
      (await only({ 'packages/wire/src/bad.ts': "import '@coxswain/kit/src/wait.ts'" })) ?? '',
      /bad.ts:1 deep import: @coxswain\/kit does not export \.\/src\/wait\.ts/,
    )
  })

  it('resolves entries that are patterns', async () => {
    const manifest = {
      name: '@coxswain/kit',
      exports: { '.': './src/index.ts', './*': './src/kinds/*.ts' },
      dependencies: { pino: '10.4.0' },
    }
    const files = {
      'packages/kit/package.json': JSON.stringify(manifest),
      'packages/kit/src/kinds/core/v1.ts': '',
    }
    const importing = (specifier: string) => ({ ...files, 'packages/wire/src/x.ts': `import '${specifier}'` })
    assert.deepEqual(await findingsWith(layers, importing('@coxswain/kit/core/v1')), [])
    assert.match((await only(importing('@coxswain/kit/core/v2'))) ?? '', /deep import/)
  })

  it('catches a relative import that leaves the package', async () => {
    assert.match(
      (await only({ 'packages/wire/src/bad.ts': "import '../../kit/src/wait.ts'" })) ?? '',
      /reaches out of its package/,
    )
  })

  it('catches a dependency that is not declared', async () => {
    assert.match(
      (await only({ 'packages/wire/src/bad.ts': "import pino from 'pino'" })) ?? '',
      /undeclared dependency: pino/,
    )
  })

  it('catches a dependency that is not used', async () => {
    assert.match(
      (await only({ 'packages/wire/src/index.ts': 'export const wired: number = 1\n' })) ?? '',
      /packages\/wire\/package.json unused dependency: @coxswain\/kit/,
    )
  })

  it('catches a node: import in the core, with and without the prefix', async () => {
    for (const name of ['node:fs', 'fs', 'fs/promises', 'node:test']) {
      assert.match(
        (await only({ 'packages/wire/src/bad.ts': `import '${name}'` })) ?? '',
        /outside src\/node\//,
      )
    }
  })

  it('lets src/node/ and tests import node: modules', async () => {
    const text = "import 'node:fs'"
    const files = {
      'packages/wire/src/node/index.ts': text,
      'packages/wire/src/x.test.ts': text,
      'packages/wire/src/x.suite.ts': text,
    }
    assert.deepEqual(await findingsWith(layers, files), [])
  })

  it('catches an example that imports what its users could not', async () => {
    const manifest = JSON.stringify({ dependencies: { '@coxswain/kit': '0.1.0' } })
    const example = (text: string) => ({
      'examples/01-x/package.json': manifest,
      'examples/01-x/operator.ts': text,
    })
    assert.deepEqual(
      await findingsWith(layers, example("import '@coxswain/kit'\nimport 'node:test'\nimport './at.ts'")),
      [],
    )
    assert.match(
      (await only(example("import '@coxswain/wire'"))) ?? '',
      /undeclared dependency: @coxswain\/wire/,
    )
    assert.match((await only(example("import '@coxswain/kit/src/wait.ts'"))) ?? '', /deep import/)
    assert.match((await only(example("import '../../packages/kit/src/wait.ts'"))) ?? '', /reaches out/)
  })

  it('lets tests on a cluster import what it consists of, and only tests what is for tests', async () => {
    const testing = {
      'layers.json': JSON.stringify({ packages: { testing: ['wire', 'kit'], wire: ['kit'], kit: [] } }),
      'packages/testing/package.json': JSON.stringify({
        name: '@coxswain/testing',
        exports: { '.': './src/index.ts', './test-support/*': './src/test-support/*.ts' },
      }),
      'packages/testing/src/index.ts': '',
      'packages/testing/src/test-support/play.ts': '',
    }
    const onCluster = "import '@coxswain/testing/test-support/play'\nimport '@coxswain/wire'\n"
    assert.deepEqual(await findingsWith(layers, { ...testing, 'packages/kit/src/a.test.ts': onCluster }), [])
    assert.deepEqual(
      await findingsWith(layers, {
        ...testing,
        'packages/kit/src/a.test.ts': "import '@coxswain/wire'\n",
        'packages/testing/src/b.ts': "import '@coxswain/kit/test-support/c'\n",
      }),
      [
        'error packages/kit/src/a.test.ts:1 upward import: layers.json does not let kit import wire',
        'error packages/testing/src/b.ts:1 deep import: @coxswain/kit does not export ./test-support/c',
        'error packages/testing/src/b.ts:1 what only tests may import: @coxswain/kit/test-support/c',
        'error packages/testing/src/b.ts:1 undeclared dependency: @coxswain/kit',
      ],
    )
  })

  it('catches a cycle in the ladder itself', async () => {
    const found = await findingsWith(layers, {
      'layers.json': JSON.stringify({ packages: { kit: ['wire'], wire: ['kit'] } }),
    })
    assert.ok(
      found.some(text => /layers.json has a cycle: kit -> wire -> kit/.test(text)),
      found.join('\n'),
    )
  })

  it('catches a package the ladder does not know, and one it knows that is not there', async () => {
    const found = await findingsWith(layers, {
      'layers.json': JSON.stringify({ packages: { gone: ['kit', 'away'], kit: [] } }),
    })
    assert.ok(found.includes('error layers.json says nothing about packages/wire'))
    assert.ok(found.includes('error layers.json names gone, which is no package'))
    assert.ok(found.includes('error layers.json lets gone import away, which is no package'))
  })

  it('catches a package that stands below one it imports', async () => {
    const found = await only({ 'layers.json': JSON.stringify({ packages: { kit: [], wire: ['kit'] } }) })
    assert.match(found ?? '', /layers.json names kit above wire, which imports it/)
  })

  describe('inside a package', () => {
    const ladder = (...rows: string[]) => ({
      'layers.json': JSON.stringify({
        packages: { wire: ['kit'], kit: [] },
        folders: { wire: ['index.ts', ...rows] },
      }),
    })
    const rooms = {
      'packages/wire/src/server/serve.ts': "import '../request/parse.ts'\n",
      'packages/wire/src/request/parse.ts': 'export const parsed: number = 1\n',
    }

    it('has ladders of folders inside a folder, too', async () => {
      const nested = (...rows: string[]) => ({
        'layers.json': JSON.stringify({ packages: { wire: ['kit'], kit: [] }, folders: { 'wire/up': rows } }),
        'packages/wire/src/up/server/x.ts': "import '../request/y.ts'\nimport '../../index.ts'\n",
        'packages/wire/src/up/request/y.ts': '',
      })
      assert.deepEqual(await findingsWith(layers, nested('server', 'request')), [])
      assert.deepEqual(await findingsWith(layers, nested('request', 'server')), [
        'error packages/wire/src/up/server/x.ts:1 upward import: server stands below or beside request in layers.json',
      ])
    })

    it('lets folders import lower rows', async () => {
      assert.deepEqual(await findingsWith(layers, { ...ladder('server', 'request'), ...rooms }), [])
    })

    it('catches an import of a higher row or of the same row, by types too', async () => {
      for (const rows of [['request', 'server'], ['server request']]) {
        const found = await findingsWith(layers, { ...ladder(...rows), ...rooms })
        assert.equal(found.length, 1, found.join('\n'))
        assert.match(found[0]!, /serve.ts:1 upward import: server stands below or beside request/)
      }
      const typed = {
        ...rooms,
        'packages/wire/src/request/parse.ts': "import type { X } from '../server/x.ts'\n",
      }
      const files = { ...ladder('server', 'request'), ...typed, 'packages/wire/src/server/x.ts': '' }
      assert.match(
        (await only(files)) ?? '',
        /parse.ts:1 upward import: request stands below or beside server/,
      )
    })

    it('catches a folder without a row, and a row without a folder', async () => {
      const found = await findingsWith(layers, { ...ladder('server', 'gone'), ...rooms })
      assert.ok(
        found.includes('error layers.json has no row for packages/wire/src/request'),
        found.join('\n'),
      )
      assert.ok(found.includes('error layers.json names packages/wire/src/gone, which does not exist'))
    })

    it('catches a cycle of files in any package, by types too', async () => {
      for (const form of ["import { b } from './b.ts'", "import type { B } from './b.ts'"]) {
        const found = await findingsWith(layers, {
          'packages/kit/src/a.ts': `${form}\n`,
          'packages/kit/src/b.ts': "export { c } from './c.ts'\n",
          'packages/kit/src/c.ts': "import { a } from './a.ts'\n",
        })
        assert.equal(found.length, 1, found.join('\n'))
        assert.match(found[0]!, /a.ts cycle of files: .*a.ts -> .*b.ts -> .*c.ts -> .*a.ts/)
      }
    })

    it('leaves tests alone', async () => {
      const files = {
        'packages/kit/src/a.test.ts': "import './b.test.ts'\n",
        'packages/kit/src/b.test.ts': "import './a.test.ts'\n",
      }
      assert.deepEqual(await findingsWith(layers, files), [])
    })
  })
})
