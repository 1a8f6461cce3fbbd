import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { coreRows } from '../src/resources/core.ts'
import { namedGroupRows } from '../src/resources/groups.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folders: Readonly<Record<string, string>> = { '': 'core', 'rbac.authorization.k8s.io': 'rbac' }

/** Code that reads, creates and applies every built-in kind. */
function source(): { text: string; kinds: number } {
  const imports: string[] = []
  const uses: string[] = []
  for (const { group, versions, resources } of [coreRows, ...namedGroupRows]) {
    const folder = folders[group] ?? group.split('.')[0]
    const file = join(root, `packages/api/src/gen/kinds/${folder}/${versions[0]}.ts`)
    for (const { kind } of resources) {
      const name = `${folder}${kind}`
      imports.push(`import { ${kind} as ${name} } from ${JSON.stringify(file)}`)
      uses.push(`export function use${name}(object: KindOf<typeof ${name}>): [CreateOf<typeof ${name}>, ApplyOf<typeof ${name}>] {
  const { metadata: { name } } = object
  return [{ ...object, metadata: { name } }, { metadata: { name } }]
}`)
    }
  }
  const machinery = join(root, 'packages/apimachinery/src/kinds/index.ts')
  imports.push(`import type { ApplyOf, CreateOf, KindOf } from ${JSON.stringify(machinery)}`)
  return { text: [...imports, ...uses].join('\n'), kinds: uses.length }
}

it('a program that uses every built-in kind stays within 100,000 type instantiations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-types-'))
  try {
    const { text, kinds } = source()
    assert.ok(kinds > 60)
    writeFileSync(join(folder, 'kinds.mts'), text)
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        noEmit: true,
        rewriteRelativeImportExtensions: false,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      files: ['kinds.mts'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules/.bin/tsc')
    const { stdout, status } = spawnSync(compiler, ['-p', folder, '--extendedDiagnostics'], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
    const count = Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
    assert.ok(count > 0 && count <= 100_000, `${count} instantiations`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
