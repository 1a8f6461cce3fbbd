import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A kind as people write them, and code that reads, creates and applies it. */
function kindSource(i: number): string {
  return `
export const K${i} = defineKind({
  group: 'cnat.example.com', kind: 'K${i}', shortNames: ['k${i}'], categories: ['all'],
  versions: { v1alpha1: { storage: true,
    spec: s.object({
      schedule: s.time().doc('When to run.').immutable(),
      command: s.string({ minLength: 1, maxLength: 4096 }),
      retries: s.int32({ minimum: 0, maximum: 10 }).default(3),
      policy: s.enumOf('Allow', 'Forbid', 'Replace', 'X${i}').default('Allow'),
      maxSurge: s.intOrString().optional(),
      env: s.listMap(['name'], s.object({ name: s.string(), value${i}: s.string().optional() })).optional(),
      podTemplate: s.any().optional(),
    }).cel('self.policy != "Replace" || self.retries == 0', { message: 'no', fieldPath: '.retries' }),
    status: s.object({ phase: s.enumOf('Pending', 'Running', 'Done').default('Pending') }),
    columns: { Schedule: '.spec.schedule', Age: { jsonPath: '.metadata.creationTimestamp', type: 'date' } },
  } },
})
export type K${i} = KindOf<typeof K${i}.v1alpha1>
export function use${i}(k: K${i}): [CreateOf<typeof K${i}.v1alpha1>, ApplyOf<typeof K${i}.v1alpha1>] {
  const { schedule, command, policy } = k.spec
  const env = [{ name: k.status?.phase ?? 'none', value${i}: k.metadata.name }]
  return [{ spec: { schedule, command, policy } }, { metadata: { name: k.metadata.name }, spec: { env } }]
}
`
}

it('a program that defines and uses 60 kinds stays within 100,000 type instantiations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-types-'))
  try {
    const entry = join(root, 'packages/apimachinery/src/kinds/index.ts')
    const imports = `import { type ApplyOf, type CreateOf, defineKind, type KindOf, s } from ${JSON.stringify(entry)}\n`
    const kinds = Array.from({ length: 60 }, (_, i) => kindSource(i)).join('')
    writeFileSync(join(folder, 'kinds.mts'), imports + kinds)
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
    const { stdout } = spawnSync(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', folder, '--extendedDiagnostics'],
      {
        encoding: 'utf8',
      },
    )
    assert.doesNotMatch(stdout, /error TS/)
    const count = Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
    assert.ok(count > 0 && count <= 100_000, `${count} instantiations`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
