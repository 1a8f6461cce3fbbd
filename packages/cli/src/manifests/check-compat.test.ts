import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, mock } from 'node:test'
import { defineKind, s, toCustomResourceDefinition } from '@coxswain/apimachinery/kinds'
import { writeYaml } from '@coxswain/apimachinery/yaml'
import { startCluster } from '@coxswain/testing'
import { checkCompat } from './check-compat.ts'

const kind = (spec: Parameters<typeof s.object>[0]) =>
  toCustomResourceDefinition(
    defineKind({ group: 'example.com', kind: 'Foo', versions: { v1: { spec: s.object(spec) } } }),
  )
const old = kind({ name: s.string(), size: s.int32().optional() })
const next = kind({ name: s.string({ maxLength: 3 }), size: s.int32().optional() })

/** What is written to standard error. */
async function reportOf(action: () => Promise<void>): Promise<string> {
  let text = ''
  const write = mock.method(process.stderr, 'write', (chunk: string) => {
    text += chunk
    return true
  })
  try {
    await action()
  } catch (error) {
    text += `coxswain: ${(error as Error).message}\n`
  } finally {
    write.mock.restore()
  }
  return text
}

describe('checking compatibility', () => {
  it('reads the old definitions from files, git and a cluster', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coxswain-compat-'))
    const before = process.cwd()
    try {
      process.chdir(folder)
      writeFileSync('foo.yaml', writeYaml(old))
      const git = (...args: string[]) =>
        spawnSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args])
      git('init', '-q', '-b', 'main')
      git('add', '.')
      git('commit', '-qm', 'x')
      await using cluster = await startCluster()
      await cluster.apply([old])
      const kubeconfig = await cluster.kubeconfig()
      for (const source of ['foo.yaml', '.', 'git:main:foo.yaml', 'git:HEAD:.', 'cluster']) {
        const report = await reportOf(() => checkCompat([next], source, { kubeconfig }))
        assert.match(
          report,
          /^error: foos\.example\.com v1: spec\.name: maxLength 3 is new\. .*\ncoxswain: 1 change breaks/,
          source,
        )
        assert.equal(await reportOf(() => checkCompat([old], source, { kubeconfig })), '', source)
      }
      assert.match(
        await reportOf(() => checkCompat([old], 'git:nowhere:.')),
        /git:nowhere:\.: fatal: Not a valid object name/,
      )
      assert.match(
        await reportOf(() => checkCompat([old], 'git:main')),
        /is not of the form git:REVISION:PATH/,
      )
      assert.match(await reportOf(() => checkCompat([old], 'gone.yaml')), /gone\.yaml does not exist/)
    } finally {
      process.chdir(before)
      rmSync(folder, { recursive: true })
    }
  })
})
